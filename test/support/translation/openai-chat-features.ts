/** What a chat completions body can hold. */
import {
  type DialectFeatures,
  type Feature,
  samplePdf,
  samplePng,
  sampleSchema,
} from './feature.ts';

const user = { role: 'user', content: 'hello' };
const base = { model: 'tier', messages: [user] };

const lookTool = {
  type: 'function',
  function: { name: 'look', description: 'looks', parameters: sampleSchema },
};
const call = {
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"city":"Rome"}' } },
  ],
};
const result = { role: 'tool', tool_call_id: 'call_1', content: 'sunny' };

function said(name: string, content: unknown, shows: RegExp): Feature {
  return { name, body: { messages: [{ role: 'user', content }] }, shows };
}

function field(name: string, value: unknown, shows: RegExp): Feature {
  return { name: `\`${name}\``, body: { [name]: value }, shows };
}

function choice(name: string, value: unknown, shows: RegExp): Feature {
  return { name, body: { tools: [lookTool], tool_choice: value }, shows };
}

export const openaiChatFeatures: DialectFeatures = {
  base,
  groups: [
    {
      title: 'Messages',
      features: [
        said('text', 'some words', /some words/),
        {
          name: 'system message',
          body: { messages: [{ role: 'system', content: 'be brief' }, user] },
          shows: /be brief/,
        },
        {
          name: 'developer message',
          body: { messages: [{ role: 'developer', content: 'be brief' }, user] },
          shows: /be brief/,
        },
        {
          name: 'system message in mid-conversation',
          body: {
            messages: [
              user,
              { role: 'assistant', content: 'yes' },
              { role: 'system', content: 'be brief' },
              user,
            ],
          },
          shows: /be brief/,
        },
        {
          name: 'several messages of one role in a row',
          body: {
            messages: [
              { role: 'user', content: 'first' },
              { role: 'user', content: 'second' },
            ],
          },
          shows: /first.*second/,
        },
        {
          name: "last message is the assistant's",
          body: { messages: [user, { role: 'assistant', content: 'It begins' }] },
          shows: /It begins/,
        },
        {
          name: '`name` of a participant',
          body: { messages: [{ role: 'user', name: 'Ada', content: 'hello' }] },
          shows: /Ada/,
        },
        {
          name: 'refusal in the history',
          body: {
            messages: [user, { role: 'assistant', refusal: 'I will not', content: null }, user],
          },
          shows: /I will not/,
        },
        said(
          'image, data URL',
          [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${samplePng}` } },
          ],
          /iVBORw0KGgo/,
        ),
        said(
          'image, link',
          [{ type: 'image_url', image_url: { url: 'https://example.com/cat.png' } }],
          /example\.com\/cat/,
        ),
        said(
          'image `detail`',
          [
            {
              type: 'image_url',
              image_url: { url: `data:image/png;base64,${samplePng}`, detail: 'low' },
            },
          ],
          /"detail":"low"|MEDIA_RESOLUTION_LOW/,
        ),
        said(
          'PDF',
          [
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${samplePdf}` },
            },
          ],
          /JVBERi0xLjQK/,
        ),
        said('file by id', [{ type: 'file', file: { file_id: 'file-abc' } }], /file-abc/),
        said(
          'sound',
          [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }],
          /UklGRg==/,
        ),
      ],
    },
    {
      title: 'Tools',
      features: [
        { name: 'function tools', body: { tools: [lookTool] }, shows: /look.*city/ },
        {
          name: 'tool without parameters',
          body: { tools: [{ type: 'function', function: { name: 'look' } }] },
          shows: /look/,
        },
        {
          name: '`strict` tool',
          body: { tools: [{ ...lookTool, function: { ...lookTool.function, strict: true } }] },
          shows: /"strict":true/,
        },
        {
          name: 'calls and results',
          body: { tools: [lookTool], messages: [user, call, result] },
          shows: /Rome.*sunny/,
        },
        choice('`tool_choice: auto`', 'auto', /look/),
        choice('`tool_choice: required`', 'required', /"required"|"any"|"ANY"/),
        choice('`tool_choice: none`', 'none', /"none"|"NONE"|^(?!.*"look")/s),
        choice(
          '`tool_choice` of one function',
          { type: 'function', function: { name: 'look' } },
          /(tool_?choice|allowedFunctionNames).*look/i,
        ),
        choice(
          '`tool_choice: allowed_tools`',
          {
            type: 'allowed_tools',
            allowed_tools: {
              mode: 'auto',
              tools: [{ type: 'function', function: { name: 'look' } }],
            },
          },
          /look/,
        ),
        {
          name: '`parallel_tool_calls: false`',
          body: { tools: [lookTool], parallel_tool_calls: false },
          shows: /"parallel_tool_calls":false|disable_parallel_tool_use":true/,
        },
        {
          name: 'custom tool',
          body: {
            tools: [{ type: 'custom', custom: { name: 'shout', description: 'free text' } }],
          },
          shows: /shout/,
        },
        field('web_search_options', { search_context_size: 'low' }, /search_context_size/),
      ],
    },
    {
      title: 'Output',
      features: [
        {
          name: '`response_format: json_schema`',
          body: {
            response_format: {
              type: 'json_schema',
              json_schema: { name: 'place', schema: sampleSchema, strict: true },
            },
          },
          shows: /city/,
        },
        {
          name: '`response_format: json_object`',
          body: { response_format: { type: 'json_object' } },
          shows: /json/i,
        },
        field('max_tokens', 4321, /4321/),
        field('max_completion_tokens', 4321, /4321/),
        field('stop', ['HALT'], /HALT/),
        {
          name: 'five `stop` sequences',
          body: { stop: ['A1', 'B2', 'C3', 'D4', 'E5'] },
          shows: /A1.*E5/,
        },
        field('n', 2, /"n":2|candidateCount":2/),
        { name: '`logprobs`', body: { logprobs: true, top_logprobs: 3 }, shows: /logprobs/i },
        field('verbosity', 'low', /"verbosity":"low"/),
        field('modalities', ['text', 'audio'], /"audio"/),
        field('prediction', { type: 'content', content: 'guess' }, /guess/),
      ],
    },
    {
      title: 'Sampling and the rest',
      features: [
        field('temperature', 0.37, /0\.37/),
        { name: '`temperature` above 1', body: { temperature: 1.5 }, shows: /"temperature":1/ },
        field('top_p', 0.42, /0\.42/),
        field('seed', 987_654, /987654/),
        field('presence_penalty', 0.25, /0\.25/),
        field('frequency_penalty', 0.25, /0\.25/),
        field('logit_bias', { '50256': -100 }, /50256/),
        field('reasoning_effort', 'low', /"low"|"LOW"|budget_?tokens|thinkingBudget/i),
        field('user', 'someone-7', /someone-7/),
        field('safety_identifier', 'someone-7', /someone-7/),
        field('metadata', { team: 'blue' }, /blue/),
        field('service_tier', 'priority', /priority/i),
        field('store', true, /"store":true/),
        field('prompt_cache_key', 'cache-7', /cache-7/),
        field('an_unknown_field', 'mystery', /mystery/),
      ],
    },
  ],
};
