/** What a generateContent body can hold. */
import {
  type DialectFeatures,
  type Feature,
  samplePdf,
  samplePng,
  sampleSchema,
} from './feature.ts';

const user = { role: 'user', parts: [{ text: 'hello' }] };
const base = { model: 'tier', contents: [user] };
const lookTool = {
  functionDeclarations: [
    { name: 'look', description: 'looks', parametersJsonSchema: sampleSchema },
  ],
};
const call = { role: 'model', parts: [{ functionCall: { name: 'look', args: { city: 'Rome' } } }] };

function said(name: string, part: unknown, shows: RegExp): Feature {
  return { name, body: { contents: [{ role: 'user', parts: [part] }] }, shows };
}

function config(name: string, value: unknown, shows: RegExp): Feature {
  return { name: `\`${name}\``, body: { generationConfig: { [name]: value } }, shows };
}

function field(name: string, value: unknown, shows: RegExp): Feature {
  return { name: `\`${name}\``, body: { [name]: value }, shows };
}

function calling(name: string, functionCallingConfig: unknown, shows: RegExp): Feature {
  return { name, body: { tools: [lookTool], toolConfig: { functionCallingConfig } }, shows };
}

export const geminiFeatures: DialectFeatures = {
  base,
  groups: [
    {
      title: 'Contents',
      features: [
        said('text', { text: 'some words' }, /some words/),
        field('systemInstruction', { parts: [{ text: 'be brief' }] }, /be brief/),
        {
          name: 'several contents of one role in a row',
          body: {
            contents: [
              { role: 'user', parts: [{ text: 'first' }] },
              { role: 'user', parts: [{ text: 'second' }] },
            ],
          },
          shows: /first.*second/,
        },
        {
          name: "last content is the model's",
          body: { contents: [user, { role: 'model', parts: [{ text: 'It begins' }] }] },
          shows: /It begins/,
        },
        said(
          'image, `inlineData`',
          { inlineData: { mimeType: 'image/png', data: samplePng } },
          /iVBORw0KGgo/,
        ),
        said(
          'image, link',
          { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/cat.png' } },
          /example\.com\/cat/,
        ),
        said(
          'file of this service',
          {
            fileData: {
              mimeType: 'image/png',
              fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc',
            },
          },
          /files\/abc/,
        ),
        said(
          'PDF',
          { inlineData: { mimeType: 'application/pdf', data: samplePdf } },
          /JVBERi0xLjQK/,
        ),
        said('sound', { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }, /UklGRg==/),
        said(
          'film',
          { inlineData: { mimeType: 'video/mp4', data: 'AAAAGGZ0eXA=' } },
          /AAAAGGZ0eXA=/,
        ),
        {
          name: 'thought with its signature',
          body: {
            contents: [
              user,
              {
                role: 'model',
                parts: [
                  { text: 'I ponder', thought: true, thoughtSignature: 'c2lnbmF0dXJl' },
                  { text: 'yes' },
                ],
              },
              user,
            ],
          },
          shows: /I ponder/,
        },
        said(
          '`executableCode` in the history',
          { executableCode: { language: 'PYTHON', code: 'print(7)' } },
          /print\(7\)/,
        ),
      ],
    },
    {
      title: 'Tools',
      features: [
        { name: 'function declarations', body: { tools: [lookTool] }, shows: /look.*city/ },
        {
          name: 'declarations in the older schema form',
          body: {
            tools: [
              {
                functionDeclarations: [
                  {
                    name: 'look',
                    parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
                  },
                ],
              },
            ],
          },
          shows: /look.*city/,
        },
        {
          name: 'calls and results',
          body: {
            tools: [lookTool],
            contents: [
              user,
              call,
              {
                role: 'user',
                parts: [{ functionResponse: { name: 'look', response: { output: 'sunny' } } }],
              },
            ],
          },
          shows: /Rome.*sunny/,
        },
        calling('mode `ANY`', { mode: 'ANY' }, /"required"|"any"|"ANY"/),
        calling('mode `NONE`', { mode: 'NONE' }, /"none"|"NONE"|^(?!.*"look")/s),
        calling(
          'mode `ANY` of one function',
          { mode: 'ANY', allowedFunctionNames: ['look'] },
          /(tool_?choice|allowedFunctionNames).*look|"any"/i,
        ),
        { name: '`googleSearch`', body: { tools: [{ googleSearch: {} }] }, shows: /googleSearch/ },
        {
          name: '`codeExecution`',
          body: { tools: [{ codeExecution: {} }] },
          shows: /codeExecution/,
        },
      ],
    },
    {
      title: 'Output',
      features: [
        {
          name: '`responseJsonSchema`',
          body: {
            generationConfig: {
              responseMimeType: 'application/json',
              responseJsonSchema: sampleSchema,
            },
          },
          shows: /city/,
        },
        {
          name: '`responseSchema`',
          body: {
            generationConfig: {
              responseMimeType: 'application/json',
              responseSchema: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
            },
          },
          shows: /city/,
        },
        config('responseMimeType', 'application/json', /json/i),
        config('maxOutputTokens', 4321, /4321/),
        config('stopSequences', ['HALT'], /HALT/),
        config('candidateCount', 2, /"n":2|candidateCount":2/),
        {
          name: '`responseLogprobs`',
          body: { generationConfig: { responseLogprobs: true, logprobs: 3 } },
          shows: /logprobs/i,
        },
        config('responseModalities', ['TEXT', 'IMAGE'], /IMAGE/),
        config('speechConfig', { languageCode: 'de-DE' }, /de-DE/),
      ],
    },
    {
      title: 'Sampling and the rest',
      features: [
        config('temperature', 0.37, /0\.37/),
        config('topP', 0.42, /0\.42/),
        config('topK', 37, /37/),
        config('seed', 987_654, /987654/),
        config('presencePenalty', 0.25, /0\.25/),
        config('frequencyPenalty', 0.25, /0\.25/),
        config('thinkingConfig', { thinkingBudget: 4096 }, /4096|"low"|budget_tokens/),
        {
          name: '`thinkingConfig` that leaves it to the model',
          body: {
            generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: -1 } },
          },
          shows: /-1|includeThoughts|"medium"|budget_tokens|adaptive/,
        },
        {
          name: '`mediaResolution`',
          body: {
            contents: [
              { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: samplePng } }] },
            ],
            generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' },
          },
          shows: /MEDIA_RESOLUTION_LOW|"detail":"low"/,
        },
        field(
          'safetySettings',
          [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
          /HARASSMENT/,
        ),
        field('cachedContent', 'cachedContents/abc', /cachedContents\/abc/),
        field('labels', { team: 'blue' }, /blue/),
        field('anUnknownField', 'mystery', /mystery/),
      ],
    },
  ],
};
