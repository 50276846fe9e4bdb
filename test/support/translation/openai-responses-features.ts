/** What a responses body can hold. */
import {
  type DialectFeatures,
  type Feature,
  samplePdf,
  samplePng,
  sampleSchema,
} from './feature.ts';

const user = { role: 'user', content: 'hello' };
const base = { model: 'tier', input: [user] };

const lookTool = {
  type: 'function',
  name: 'look',
  description: 'looks',
  parameters: sampleSchema,
  strict: false,
};
const call = {
  type: 'function_call',
  call_id: 'call_1',
  name: 'look',
  arguments: '{"city":"Rome"}',
};
const result = { type: 'function_call_output', call_id: 'call_1', output: 'sunny' };
const image = { type: 'input_image', image_url: `data:image/png;base64,${samplePng}` };

function said(name: string, content: unknown, shows: RegExp): Feature {
  return { name, body: { input: [{ role: 'user', content }] }, shows };
}

function field(name: string, value: unknown, shows: RegExp): Feature {
  return { name: `\`${name}\``, body: { [name]: value }, shows };
}

function choice(name: string, value: unknown, shows: RegExp): Feature {
  return { name, body: { tools: [lookTool], tool_choice: value }, shows };
}

function tool(name: string, value: object, shows: RegExp): Feature {
  return { name, body: { tools: [value] }, shows };
}

export const openaiResponsesFeatures: DialectFeatures = {
  base,
  groups: [
    {
      title: 'Items',
      features: [
        { name: 'plain text', body: { input: 'some words' }, shows: /some words/ },
        { name: '`instructions`', body: { instructions: 'be brief' }, shows: /be brief/ },
        {
          name: 'system message',
          body: { input: [{ role: 'system', content: 'be brief' }, user] },
          shows: /be brief/,
        },
        {
          name: 'system message in mid-conversation',
          body: {
            input: [
              user,
              { role: 'assistant', content: 'yes' },
              { role: 'developer', content: 'be brief' },
              user,
            ],
          },
          shows: /be brief/,
        },
        {
          name: "last item is the assistant's",
          body: { input: [user, { role: 'assistant', content: 'It begins' }] },
          shows: /It begins/,
        },
        {
          name: 'refusal in the history',
          body: {
            input: [
              user,
              { role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not' }] },
              user,
            ],
          },
          shows: /I will not/,
        },
        said('image, data URL', [image], /iVBORw0KGgo/),
        said(
          'image, link',
          [{ type: 'input_image', image_url: 'https://example.com/cat.png' }],
          /example\.com\/cat/,
        ),
        said(
          'image `detail`',
          [{ ...image, detail: 'low' }],
          /"detail":"low"|MEDIA_RESOLUTION_LOW/,
        ),
        said('image by id', [{ type: 'input_image', file_id: 'file-abc' }], /file-abc/),
        said(
          'PDF',
          [
            {
              type: 'input_file',
              filename: 'a.pdf',
              file_data: `data:application/pdf;base64,${samplePdf}`,
            },
          ],
          /JVBERi0xLjQK/,
        ),
        said(
          'file, link',
          [{ type: 'input_file', file_url: 'https://example.com/a.pdf' }],
          /example\.com\/a/,
        ),
        said('file by id', [{ type: 'input_file', file_id: 'file-abc' }], /file-abc/),
        said(
          'sound',
          [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }],
          /UklGRg==/,
        ),
        {
          name: 'reasoning of another vendor or account',
          body: {
            input: [
              user,
              { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAB' },
              { role: 'assistant', content: 'yes' },
              user,
            ],
          },
          shows: /gAAAAB/,
        },
        {
          name: '`item_reference` to reasoning',
          body: { input: [{ type: 'item_reference', id: 'rs_1' }, user] },
          shows: /"rs_1"/,
        },
        {
          name: 'an item of a tool that the provider runs',
          body: {
            input: [user, { type: 'web_search_call', id: 'ws_1', status: 'completed' }, user],
          },
          shows: /web_search_call/,
        },
      ],
    },
    {
      title: 'Tools',
      features: [
        { name: 'function tools', body: { tools: [lookTool] }, shows: /look.*city/ },
        tool('tool without parameters', { type: 'function', name: 'look' }, /look/),
        tool('`strict` tool', { ...lookTool, strict: true }, /"strict":true/),
        {
          name: 'calls and results',
          body: { tools: [lookTool], input: [user, call, result] },
          shows: /Rome.*sunny/,
        },
        {
          name: 'a result that holds an image',
          body: { tools: [lookTool], input: [user, call, { ...result, output: [image] }] },
          shows: /iVBORw0KGgo/,
        },
        choice('`tool_choice: auto`', 'auto', /look/),
        choice('`tool_choice: required`', 'required', /"required"|"any"|"ANY"/),
        choice('`tool_choice: none`', 'none', /"none"|"NONE"|^(?!.*"look")/s),
        choice(
          '`tool_choice` of one function',
          { type: 'function', name: 'look' },
          /(tool_?choice|allowedFunctionNames).*look/i,
        ),
        choice(
          '`tool_choice: allowed_tools`',
          { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'look' }] },
          /look/,
        ),
        {
          name: '`parallel_tool_calls: false`',
          body: { tools: [lookTool], parallel_tool_calls: false },
          shows: /"parallel_tool_calls":false|disable_parallel_tool_use":true/,
        },
        tool('custom tool', { type: 'custom', name: 'shout', description: 'free' }, /shout/),
        tool('`web_search` and its kin', { type: 'web_search' }, /web_search/),
        field('max_tool_calls', 4321, /4321/),
      ],
    },
    {
      title: 'Output',
      features: [
        {
          name: '`text.format: json_schema`',
          body: {
            text: {
              format: { type: 'json_schema', name: 'place', schema: sampleSchema, strict: true },
            },
          },
          shows: /city/,
        },
        {
          name: '`text.format: json_object`',
          body: { text: { format: { type: 'json_object' } } },
          shows: /json/i,
        },
        {
          name: '`text.verbosity`',
          body: { text: { verbosity: 'low' } },
          shows: /"verbosity":"low"/,
        },
        field('max_output_tokens', 4321, /4321/),
        {
          name: '`top_logprobs`, with its `include`',
          body: { top_logprobs: 3, include: ['message.output_text.logprobs'] },
          shows: /logprobs/i,
        },
        field('prompt', { id: 'pmpt_1' }, /pmpt_1/),
      ],
    },
    {
      title: 'What an account keeps',
      features: [
        field('store', true, /"store":true/),
        field('background', true, /"background":true/),
        field('previous_response_id', 'resp_1', /resp_1/),
        field('conversation', 'conv_1', /conv_1/),
      ],
    },
    {
      title: 'Sampling and the rest',
      features: [
        field('temperature', 0.37, /0\.37/),
        field('top_p', 0.42, /0\.42/),
        {
          name: '`reasoning.effort`',
          body: { reasoning: { effort: 'low' } },
          shows: /"low"|"LOW"|budget_?tokens|thinkingBudget/i,
        },
        { name: '`reasoning.mode`', body: { reasoning: { mode: 'pro' } }, shows: /"pro"/ },
        field('safety_identifier', 'someone-7', /someone-7/),
        field('metadata', { team: 'blue' }, /blue/),
        field('service_tier', 'priority', /priority/i),
        field('truncation', 'auto', /"truncation":"auto"/),
        field('prompt_cache_key', 'cache-7', /cache-7/),
        field('an_unknown_field', 'mystery', /mystery/),
      ],
    },
  ],
};
