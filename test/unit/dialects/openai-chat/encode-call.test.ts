import { describe, expect, it } from 'vitest';
import { type ChatRequest, type Message, noParameters } from '../../../../src/chat/request.ts';
import type { UpstreamCall } from '../../../../src/dialects/dialect.ts';
import { openaiChatUpstream } from '../../../../src/dialects/openai-chat/upstream.ts';

function requestWith(messages: readonly Message[], change: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: 'smart',
    messages,
    tools: [],
    providerTools: [],
    toolChoice: null,
    parameters: noParameters,
    isStream: false,
    includeUsage: false,
    otherFields: [],
    original: { dialect: 'elsewhere', bytes: Buffer.from('{}'), json: {} },
    ...change,
  };
}

function encode(request: ChatRequest, change: Partial<UpstreamCall> = {}) {
  return openaiChatUpstream.encodeCall({
    request,
    model: 'm-1',
    isStream: request.isStream,
    system: null,
    parameters: request.parameters,
    ownedParameters: [],
    extraFields: {},
    toolDescriptions: {},
    maxOutputTokens: null,
    isReasoningModel: false,
    ...change,
  });
}

function bodyOf(request: ChatRequest, change: Partial<UpstreamCall> = {}) {
  const encoded = encode(request, change);
  if (!encoded.ok) throw new Error(encoded.fault.message);
  return { ...JSON.parse(encoded.value.body.toString()), dropped: encoded.value.dropped };
}

const text = (value: string) => ({ type: 'text', text: value }) as const;
const user = (...content: string[]): Message => ({
  role: 'user',
  content: content.map(text),
  name: null,
});
const call = (id: string, argumentText = '{}') =>
  ({ type: 'tool_call', id, name: 'f', arguments: argumentText }) as const;
const result = (toolCallId: string, ...content: string[]): Message => ({
  role: 'tool',
  toolCallId,
  isError: false,
  content: content.map(text),
});

describe('a body built from the canonical request', () => {
  it('writes the plain forms', () => {
    const request = requestWith([
      { role: 'system', content: [text('a'), text('b')] },
      user('hi'),
      { role: 'assistant', content: [text('x'), text('y'), { type: 'refusal', text: 'no' }] },
      user('one', 'two'),
    ]);
    expect(bodyOf(request)).toEqual({
      model: 'm-1',
      messages: [
        { role: 'system', content: 'a\n\nb' },
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'xy', refusal: 'no' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'one' },
            { type: 'text', text: 'two' },
          ],
        },
      ],
      dropped: [],
    });
  });

  it('asks for usage on a stream', () => {
    expect(bodyOf(requestWith([user('hi')], { isStream: true }))).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('TR-05 TR-04 puts results straight behind their calls, in the order of the calls', () => {
    const messages = [
      user('q'),
      { role: 'assistant', content: [call('a'), call('b', '')] } as const,
      user('and?'),
      result('b', '2'),
      result('a', '1'),
    ];
    const body = bodyOf(requestWith(messages));
    expect(body.messages.map((message: { role: string }) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
    expect(body.messages[2]).toEqual({ role: 'tool', tool_call_id: 'a', content: '1' });
    expect(body.messages[1].content).toBeNull();
  });

  it('TR-19 writes empty arguments as an empty object', () => {
    const messages = [
      user('q'),
      { role: 'assistant', content: [call('a', '')] } as const,
      result('a'),
    ];
    const [, asked, answer] = bodyOf(requestWith(messages)).messages;
    expect(asked.tool_calls[0].function.arguments).toBe('{}');
    expect(answer.content).toBe('');
  });

  it('TR-04 refuses a call without its result, by name', () => {
    const encoded = encode(
      requestWith([user('q'), { role: 'assistant', content: [call('call-a')] }, user('go')]),
    );
    expect(encoded.ok ? '' : encoded.fault.message).toContain('"call-a"');
    const orphan = encode(requestWith([user('q'), result('nobody', '1')]));
    expect(orphan.ok ? '' : orphan.fault.message).toContain('"nobody"');
  });

  it('moves what a tool message cannot hold behind all results of the turn', () => {
    const image = {
      type: 'image',
      detail: null,
      source: { kind: 'base64', mediaType: 'image/png', data: 'AA' },
    } as const;
    const messages: Message[] = [
      user('q'),
      { role: 'assistant', content: [call('a'), call('b')] },
      { role: 'tool', toolCallId: 'a', isError: false, content: [image] },
      { role: 'tool', toolCallId: 'b', isError: true, content: [text('broke')] },
      user('next'),
    ];
    const [, , first, second, moved, next] = bodyOf(requestWith(messages)).messages;
    expect(first).toMatchObject({ role: 'tool', tool_call_id: 'a' });
    expect(second).toMatchObject({ role: 'tool', content: 'Error: broke' });
    expect(moved.role).toBe('user');
    expect(moved.content[1].image_url.url).toBe('data:image/png;base64,AA');
    expect(next).toEqual({ role: 'user', content: 'next' });
  });

  it('TR-14 never sends reasoning', () => {
    const reasoning = {
      type: 'reasoning',
      text: 'SECRET-CHAIN',
      signature: 'sig-1',
      redacted: null,
      dialect: 'elsewhere',
    } as const;
    const encoded = encode(
      requestWith([user('q'), { role: 'assistant', content: [reasoning, text('a')] }, user('go')]),
    );
    if (!encoded.ok) throw new Error(encoded.fault.message);
    const body = encoded.value.body.toString();
    expect(body).not.toContain('SECRET-CHAIN');
    expect(body).not.toContain('sig-1');
    expect(body).toContain('"content":"a"');
  });

  it('TR-03 maps ids of calls and results alike', () => {
    const long = `toolu_${'x'.repeat(60)}`;
    const messages = [
      user('q'),
      { role: 'assistant', content: [call(long)] } as const,
      result(long, '1'),
    ];
    const [, asked, answer] = bodyOf(requestWith(messages)).messages;
    expect(asked.tool_calls[0].id).toBe(answer.tool_call_id);
    expect(answer.tool_call_id.length).toBeLessThanOrEqual(40);
  });

  it('writes media in the forms there are, and refuses the others', () => {
    const content = [
      { type: 'image', detail: 'high', source: { kind: 'url', url: 'https://x.test/a' } },
      { type: 'audio', format: 'mp3', data: 'AA' },
      {
        type: 'document',
        filename: 'a.pdf',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'BB' },
      },
      {
        type: 'document',
        filename: null,
        source: { kind: 'base64', mediaType: 'text/plain', data: 'aGk=' },
      },
    ] as const;
    const request = requestWith([{ role: 'user', content, name: 'ann' }]);
    const [message] = bodyOf(request).messages;
    expect(message.name).toBe('ann');
    expect(message.content).toEqual([
      { type: 'image_url', image_url: { url: 'https://x.test/a', detail: 'high' } },
      { type: 'input_audio', input_audio: { data: 'AA', format: 'mp3' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BB' } },
      { type: 'text', text: 'hi' },
    ]);
    const link = { kind: 'url', url: 'https://x.test/a.pdf' } as const;
    const document = { type: 'document', filename: null, source: link } as const;
    const linked = requestWith([{ role: 'user', content: [document], name: null }]);
    expect(openaiChatUpstream.missingAbility(linked)).toBe('documents');
    expect(encode(linked).ok).toBe(false);
  });

  it('carries tools, the choice and the variant', () => {
    const closed = { type: 'object', properties: {}, additionalProperties: false };
    const request = requestWith([{ role: 'system', content: [text('own')] }, user('hi')], {
      tools: [
        { name: 'f', description: 'old', parameters: closed, strict: true },
        { name: 'g', description: null, parameters: null, strict: null },
      ],
      toolChoice: { mode: 'subset', required: true, names: ['g'] },
    });
    const body = bodyOf(request, {
      toolDescriptions: { f: 'new' },
      system: { before: 'B', after: 'A' },
    });
    expect(body.tools).toEqual([
      {
        type: 'function',
        function: { name: 'f', description: 'new', parameters: closed, strict: true },
      },
      { type: 'function', function: { name: 'g' } },
    ]);
    expect(body.tool_choice).toEqual({
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'g' } }] },
    });
    expect(body.messages.map((message: { content: string }) => message.content)).toEqual([
      'B',
      'own',
      'A',
      'hi',
    ]);
  });

  it('TR-09 names the output limit as the model takes it, and what was left out', () => {
    const parameters = {
      ...noParameters,
      max_tokens: 77,
      temperature: 0.2,
      top_k: 5,
      service_tier: 'standard_only',
      reasoning_effort: 'low',
      user: 'u',
    };
    const request = requestWith([user('hi')], { parameters, otherFields: ['thinking'] });
    const plain = bodyOf(request);
    expect(plain).toMatchObject({ max_tokens: 77, temperature: 0.2, user: 'u' });
    expect(plain.dropped.toSorted()).toEqual([
      'reasoning_effort',
      'service_tier',
      'thinking',
      'top_k',
    ]);
    const reasoning = bodyOf(request, { isReasoningModel: true });
    expect(reasoning).toMatchObject({ max_completion_tokens: 77, reasoning_effort: 'low' });
    expect(reasoning.max_tokens).toBeUndefined();
    expect(reasoning.dropped).toContain('temperature');
  });

  it('writes fields that the target sets, below what the gateway owns', () => {
    const body = bodyOf(requestWith([user('hi')]), {
      extraFields: { provider: { order: ['x'] }, model: 'evil' },
    });
    expect(body).toMatchObject({ provider: { order: ['x'] }, model: 'm-1' });
  });
});
