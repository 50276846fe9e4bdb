/** What a Messages body can hold. */
import {
  type DialectFeatures,
  type Feature,
  samplePdf,
  samplePng,
  sampleSchema,
} from './feature.ts';

const user = { role: 'user', content: 'hello' };
const base = { model: 'tier', max_tokens: 1000, messages: [user] };
const lookTool = { name: 'look', description: 'looks', input_schema: sampleSchema };
const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { city: 'Rome' } };

function said(name: string, block: unknown, shows: RegExp): Feature {
  return { name, body: { messages: [{ role: 'user', content: [block] }] }, shows };
}

function resulting(name: string, result: object, shows: RegExp): Feature {
  const block = { type: 'tool_result', tool_use_id: 'toolu_1', ...result };
  const messages = [
    user,
    { role: 'assistant', content: [call] },
    { role: 'user', content: [block] },
  ];
  return { name, body: { tools: [lookTool], messages }, shows };
}

function answered(name: string, block: unknown, shows: RegExp): Feature {
  const content = [block, { type: 'text', text: 'yes' }];
  return { name, body: { messages: [user, { role: 'assistant', content }, user] }, shows };
}

function field(name: string, value: unknown, shows: RegExp): Feature {
  return { name: `\`${name}\``, body: { [name]: value }, shows };
}

function choice(name: string, value: unknown, shows: RegExp): Feature {
  return { name, body: { tools: [lookTool], tool_choice: value }, shows };
}

function tool(name: string, definition: unknown, shows: RegExp): Feature {
  return { name, body: { tools: [definition] }, shows };
}

export const anthropicMessagesFeatures: DialectFeatures = {
  base,
  groups: [
    {
      title: 'Messages',
      features: [
        said('text', { type: 'text', text: 'some words' }, /some words/),
        field('system', 'be brief', /be brief/),
        {
          name: '`system` blocks',
          body: {
            system: [
              { type: 'text', text: 'be brief' },
              { type: 'text', text: 'be kind' },
            ],
          },
          shows: /be brief.*be kind/,
        },
        {
          name: '`cache_control`',
          body: {
            system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }],
          },
          shows: /cache_control|cachePoint/,
        },
        {
          name: '`cache_control` of a tool',
          body: { tools: [{ ...lookTool, cache_control: { type: 'ephemeral' } }] },
          shows: /cache_control|cachePoint/,
        },
        {
          name: '`cache_control` of the whole request',
          body: { cache_control: { type: 'ephemeral' } },
          shows: /cache_control|cachePoint/,
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
          name: "prefill (the last message is the assistant's)",
          body: { messages: [user, { role: 'assistant', content: 'It begins' }] },
          shows: /It begins/,
        },
        said(
          'image, base64',
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: samplePng } },
          /iVBORw0KGgo/,
        ),
        said(
          'image, link',
          { type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } },
          /example\.com\/cat/,
        ),
        said(
          'file by id',
          { type: 'image', source: { type: 'file', file_id: 'file_abc' } },
          /file_abc/,
        ),
        said(
          'PDF',
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: samplePdf },
          },
          /JVBERi0xLjQK/,
        ),
        said(
          'PDF, link',
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
          /example\.com\/a\.pdf/,
        ),
        said(
          'document of text',
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'plain words' },
          },
          /plain words|cGxhaW4gd29yZHM/,
        ),
        said(
          'document with `citations`',
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'plain words' },
            citations: { enabled: true },
          },
          /"citations":\{"enabled":true\}/,
        ),
        said(
          '`search_result` block',
          {
            type: 'search_result',
            source: 'https://example.com',
            title: 'found',
            content: [{ type: 'text', text: 'snippet' }],
          },
          /snippet/,
        ),
      ],
    },
    {
      title: 'Thinking',
      features: [
        {
          name: '`thinking` with a budget',
          body: { max_tokens: 20_000, thinking: { type: 'enabled', budget_tokens: 8192 } },
          shows: /budget_tokens|"medium"|"MEDIUM"|thinkingBudget/,
        },
        {
          name: '`thinking: adaptive`',
          body: { max_tokens: 20_000, thinking: { type: 'adaptive' } },
          shows: /budget_tokens|"medium"|thinkingBudget|includeThoughts|adaptive/,
        },
        field('output_config', { effort: 'low' }, /"low"|"LOW"|thinkingBudget|budget_tokens/),
        answered(
          'thinking block with its signature',
          { type: 'thinking', thinking: 'I ponder', signature: 'c2lnbmF0dXJl' },
          /I ponder/,
        ),
        answered(
          '`redacted_thinking`',
          { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
          /cmVkYWN0ZWQ=/,
        ),
      ],
    },
    {
      title: 'Tools',
      features: [
        tool('custom tools', lookTool, /look.*city/),
        tool('`strict` tool', { ...lookTool, strict: true }, /"strict":true/),
        resulting('calls and results', { content: 'sunny' }, /Rome.*sunny/),
        resulting(
          '`is_error`',
          { content: 'no such city', is_error: true },
          /is_error":true|error/i,
        ),
        resulting(
          'image in a result',
          {
            content: [
              {
                type: 'image',
                source: { type: 'base64', media_type: 'image/png', data: samplePng },
              },
            ],
          },
          /iVBORw0KGgo/,
        ),
        choice('`tool_choice: any`', { type: 'any' }, /"required"|"any"|"ANY"/),
        choice('`tool_choice: none`', { type: 'none' }, /"none"|"NONE"|^(?!.*"look")/s),
        choice(
          '`tool_choice` of one tool',
          { type: 'tool', name: 'look' },
          /(tool_?choice|allowedFunctionNames).*look/i,
        ),
        choice(
          '`disable_parallel_tool_use`',
          { type: 'auto', disable_parallel_tool_use: true },
          /"parallel_tool_calls":false|disable_parallel_tool_use":true/,
        ),
        tool(
          'server tool (web search)',
          { type: 'web_search_20250305', name: 'web_search' },
          /web_search_20250305/,
        ),
        field(
          'mcp_servers',
          [{ type: 'url', url: 'https://example.com/mcp', name: 'm' }],
          /example\.com\/mcp/,
        ),
        field('container', 'container_7', /container_7/),
      ],
    },
    {
      title: 'Output',
      features: [
        {
          name: '`output_config.format: json_schema`',
          body: { output_config: { format: { type: 'json_schema', schema: sampleSchema } } },
          shows: /city/,
        },
        field('max_tokens', 4321, /4321/),
        {
          name: '`max_tokens: 0`, which only fills a cache',
          body: { max_tokens: 0 },
          shows: /"max_tokens":0/,
        },
        field('stop_sequences', ['HALT'], /HALT/),
        {
          name: 'five `stop_sequences`',
          body: { stop_sequences: ['A1', 'B2', 'C3', 'D4', 'E5'] },
          shows: /A1.*E5/,
        },
      ],
    },
    {
      title: 'Sampling and the rest',
      features: [
        field('temperature', 0.37, /0\.37/),
        field('top_p', 0.42, /0\.42/),
        field('top_k', 37, /37/),
        {
          name: '`metadata.user_id`',
          body: { metadata: { user_id: 'someone-7' } },
          shows: /someone-7/,
        },
        // Where no tier is named it is the standard one.
        field('service_tier', 'standard_only', /standard_only|"default"|^(?!.*service_?tier)/i),
        {
          name: '`context_management`, clearing',
          body: { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
          shows: /clear_tool_uses/,
        },
        {
          name: '`context_management`, compacting',
          body: { context_management: { edits: [{ type: 'compact_20260112' }] } },
          shows: /compact_20260112/,
        },
        field('an_unknown_field', 'mystery', /mystery/),
      ],
    },
  ],
};
