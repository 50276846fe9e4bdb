import { describe, expect, it } from 'vitest';
import { geminiClient } from '../../../../src/dialects/gemini/client.ts';
import { decode, faultOf, hi, requestOf } from './client-bodies.ts';

describe('tools', () => {
  it('are functions, their schemas in JSON Schema', () => {
    const parameters = {
      type: 'OBJECT',
      propertyOrdering: ['a'],
      required: ['a'],
      properties: {
        a: { type: 'STRING', nullable: true, enum: ['x'], maxLength: '5', example: 'x' },
        b: { type: 'ARRAY', items: { type: 'INTEGER', format: 'int32' }, min_items: 1 },
        c: { anyOf: [{ type: 'NUMBER' }, { type: 'BOOLEAN' }], nullable: true },
        type: { type: 'OBJECT' },
      },
    };
    const plainSchema = { type: 'object', $defs: {}, additionalProperties: false };
    const { tools, providerTools } = requestOf({
      ...hi,
      tools: [
        {
          functionDeclarations: [
            { name: 'f', description: 'F', parameters },
            { name: 'g', parametersJsonSchema: plainSchema },
          ],
          googleSearch: {},
        },
        { code_execution: {} },
      ],
    });
    expect(tools).toEqual([
      {
        name: 'f',
        description: 'F',
        strict: null,
        parameters: {
          type: 'object',
          required: ['a'],
          properties: {
            a: { type: ['string', 'null'], enum: ['x', null], maxLength: 5, examples: ['x'] },
            b: { type: 'array', items: { type: 'integer', format: 'int32' }, minItems: 1 },
            c: { anyOf: [{ anyOf: [{ type: 'number' }, { type: 'boolean' }] }, { type: 'null' }] },
            type: { type: 'object' },
          },
        },
      },
      { name: 'g', description: null, strict: null, parameters: plainSchema },
    ]);
    expect(providerTools.map(({ kind }) => kind)).toEqual(['googleSearch', 'codeExecution']);
  });

  it.each([
    [{ mode: 'AUTO' }, { mode: 'auto' }],
    [{ mode: 'ANY' }, { mode: 'required' }],
    [{ mode: 'NONE' }, { mode: 'none' }],
    [
      { mode: 'ANY', allowedFunctionNames: ['f'] },
      { mode: 'tool', name: 'f' },
    ],
    [
      { mode: 'ANY', allowed_function_names: ['f', 'g'] },
      { mode: 'subset', required: true, names: ['f', 'g'] },
    ],
    [
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
      { mode: 'subset', required: false, names: ['f'] },
    ],
    [{ mode: 'MODE_UNSPECIFIED' }, null],
    [{}, null],
  ])('the choice %j', (functionCallingConfig, choice) => {
    const body = { ...hi, tool_config: { functionCallingConfig } };
    expect(requestOf(body).toolChoice).toEqual(choice);
  });

  it('a choice not known here is for this dialect alone', () => {
    const body = { ...hi, toolConfig: { functionCallingConfig: { mode: 'NEW' } } };
    expect(requestOf(body).providerTools).toHaveLength(1);
  });
});

describe('parameters', () => {
  it('have their canonical places, in either spelling and with numbers as text', () => {
    const generationConfig = {
      temperature: 0.5,
      top_p: 0.9,
      topK: 40,
      candidateCount: 2,
      maxOutputTokens: '100',
      stop_sequences: ['x'],
      seed: 7,
      presencePenalty: 0.1,
      frequency_penalty: 0.2,
      responseLogprobs: true,
      logprobs: 3,
    };
    expect(requestOf({ ...hi, generationConfig, serviceTier: 'flex' }).parameters).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      n: 2,
      max_tokens: 100,
      stop: ['x'],
      seed: 7,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      logprobs: true,
      top_logprobs: 3,
      service_tier: 'flex',
      response_format: null,
      reasoning_effort: null,
    });
  });

  it.each([
    [{ thinkingLevel: 'HIGH' }, 'high'],
    [{ thinking_level: 'MINIMAL' }, 'minimal'],
    [{ thinkingBudget: 0 }, 'none'],
    [{ thinkingBudget: 1024 }, 'minimal'],
    [{ thinkingBudget: 4096 }, 'low'],
    [{ thinkingBudget: 8000 }, 'medium'],
    [{ thinkingBudget: 24_576 }, 'high'],
    [{ thinkingBudget: 32_768 }, 'xhigh'],
    [{ thinkingBudget: -1 }, null],
    [{ includeThoughts: true }, null],
  ])('thinking %j is the effort %s', (thinkingConfig, effort) => {
    const body = { ...hi, generationConfig: { thinkingConfig } };
    expect(requestOf(body).parameters.reasoning_effort).toBe(effort);
  });

  it.each([
    [{ responseMimeType: 'text/plain' }, { type: 'text' }],
    [{ responseMimeType: 'application/json' }, { type: 'json_object' }],
    [
      { responseMimeType: 'application/json', responseSchema: { type: 'STRING' } },
      { type: 'json_schema', schema: { type: 'string' }, name: 'response' },
    ],
    [
      { response_mime_type: 'application/json', response_json_schema: { type: 'object' } },
      { type: 'json_schema', schema: { type: 'object' } },
    ],
  ])('the format %j', (generationConfig, format) => {
    expect(requestOf({ ...hi, generationConfig }).parameters.response_format).toMatchObject(format);
  });

  it('what others cannot say is named, or binds the request to this dialect', () => {
    const request = requestOf({
      ...hi,
      safety_settings: [{ category: 'X' }],
      cachedContent: 'cachedContents/1',
      labels: {},
      empty: null,
      generationConfig: {
        enableEnhancedCivicAnswers: true,
        responseModalities: ['TEXT', 'IMAGE'],
        responseMimeType: 'text/x.enum',
        mediaResolution: 'MEDIA_RESOLUTION_MEDIUM',
      },
    });
    expect(request.otherFields.toSorted()).toEqual([
      'cachedContent',
      'generationConfig.enableEnhancedCivicAnswers',
      'labels',
      'mediaResolution',
      'safetySettings',
    ]);
    expect(request.providerTools.map(({ kind }) => kind)).toEqual([
      'responseModalities',
      'responseMimeType',
    ]);
  });
});

describe('what is ours', () => {
  it('the extension is cut out', () => {
    const decoded = decode({ ...hi, tiergate: { pin: 'p' } });
    expect(decoded).toMatchObject({ ok: true, value: { extension: { pin: 'p' } } });
    if (decoded.ok) expect(decoded.value.request.original.json).toEqual(hi);
  });

  it.each(['api_base', 'base_url', 'api_key', 'extra_headers', 'apiKey', 'baseUrl', 'httpOptions'])(
    '%s is refused',
    (name) => {
      expect(faultOf({ ...hi, [name]: 'x' }).param).toBe(name);
    },
  );
});

describe('a body that is wrong is refused with the place', () => {
  const contentsWith = (part: unknown) => ({ contents: [{ role: 'user', parts: [part] }] });
  it.each<readonly [unknown, string | null]>([
    ['', null],
    ['[]', null],
    ['{"contents":', null],
    ['null', null],
    [{}, 'contents'],
    [{ contents: [] }, 'contents'],
    [{ contents: 'hi' }, 'contents'],
    [{ contents: [1] }, 'contents[0]'],
    [{ contents: [{ role: 'system', parts: [] }] }, 'contents[0].role'],
    [{ contents: [{ role: 7, parts: [] }] }, 'contents[0].role'],
    [{ contents: [{ parts: 'x' }] }, 'contents[0].parts'],
    [contentsWith('x'), 'contents[0].parts[0]'],
    [contentsWith({ text: 5 }), 'contents[0].parts[0].text'],
    [contentsWith({ inlineData: 'x' }), 'contents[0].parts[0].inlineData'],
    [contentsWith({ inlineData: { data: 'AA' } }), 'contents[0].parts[0].inlineData.mimeType'],
    [contentsWith({ inline_data: { mimeType: 'a/b' } }), 'contents[0].parts[0].inline_data.data'],
    [contentsWith({ fileData: {} }), 'contents[0].parts[0].fileData.fileUri'],
    [
      { contents: [{ role: 'model', parts: [{ functionCall: {} }] }] },
      'contents[0].parts[0].functionCall.name',
    ],
    [
      { contents: [{ role: 'model', parts: [{ functionCall: { name: 'f', args: 'x' } }] }] },
      'contents[0].parts[0].functionCall.args',
    ],
    [
      contentsWith({ functionResponse: { name: 'f', response: 'x' } }),
      'contents[0].parts[0].functionResponse.response',
    ],
    [{ ...hi, systemInstruction: { parts: [{ inlineData: {} }] } }, 'systemInstruction'],
    [{ ...hi, tools: 'x' }, 'tools'],
    [{ ...hi, tools: [{ functionDeclarations: [{}] }] }, 'tools[0].functionDeclarations[0].name'],
    [
      { ...hi, tools: [{ function_declarations: [{ name: 'f', parameters: [] }] }] },
      'tools[0].function_declarations[0].parameters',
    ],
    [{ ...hi, toolConfig: [] }, 'toolConfig'],
    [
      { ...hi, toolConfig: { functionCallingConfig: { allowedFunctionNames: 'f' } } },
      'toolConfig.functionCallingConfig.allowedFunctionNames',
    ],
    [{ ...hi, generationConfig: 1 }, 'generationConfig'],
    [{ ...hi, generationConfig: { temperature: 'hot' } }, 'generationConfig.temperature'],
    [
      { ...hi, generation_config: { max_output_tokens: 1.5 } },
      'generation_config.max_output_tokens',
    ],
    [{ ...hi, generationConfig: { stopSequences: 'x' } }, 'generationConfig.stopSequences'],
    [{ ...hi, tiergate: 1 }, 'tiergate'],
  ])('%j', (body, param) => {
    const fault = faultOf(body);
    expect(fault.param).toBe(param);
    expect(fault.message).not.toBe('');
  });

  it('nested too deeply, and no UTF-8', () => {
    const deep = `{"contents":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    expect(faultOf(deep).message).toContain('nested deeper');
    const decoded = geminiClient.decodeRequest(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
    expect(decoded).toMatchObject({ ok: false });
  });
});
