import { describe, expect, it } from 'vitest';
import type { UpstreamCall } from '../../../../src/dialects/dialect.ts';
import type { ChatQuirks } from '../../../../src/dialects/openai-chat/chat-quirks.ts';
import { openaiChatWith } from '../../../../src/dialects/openai-chat/upstream.ts';
import { callOf, type Json, owning, sent, user } from '../upstream-calls.ts';

const hi = { messages: [user('hi')] };

/** What is sent of the client's `body` to a server with these quirks, but for the model. */
function fitted(quirks: ChatQuirks, body: Json, change: Partial<UpstreamCall> = {}) {
  const { body: whole, dropped } = sent(openaiChatWith(quirks), callOf({ ...hi, ...body }, change));
  const { model: _, ...rest } = whole;
  return { body: rest, dropped };
}

function messagesOf(quirks: ChatQuirks, messages: readonly Json[], change = {}) {
  return fitted(quirks, { messages }, change).body['messages'];
}

describe('a body for a server that differs', () => {
  it('has the output limit under the one name that it knows', () => {
    const older: ChatQuirks = { outputLimit: 'max_tokens' };
    expect(fitted(older, { max_completion_tokens: 5 }).body).toEqual({ ...hi, max_tokens: 5 });
    expect(fitted(older, { max_tokens: 5 }, { isReasoningModel: true }).body).toEqual({
      ...hi,
      max_tokens: 5,
    });
    const newer: ChatQuirks = { outputLimit: 'max_completion_tokens' };
    expect(fitted(newer, { max_tokens: 5 }).body).toEqual({ ...hi, max_completion_tokens: 5 });
  });

  it('has fields under the names of the server, the server’s own first', () => {
    const quirks: ChatQuirks = { renamedFields: { seed: 'random_seed' } };
    expect(fitted(quirks, { seed: 7 })).toEqual({ body: { ...hi, random_seed: 7 }, dropped: [] });
    expect(fitted(quirks, { seed: 7, random_seed: 8 })).toEqual({
      body: { ...hi, random_seed: 8 },
      dropped: ['seed'],
    });
  });

  it('holds no field that the server refuses; what was left out is named, unless it said nothing', () => {
    const strict: ChatQuirks = { onlyFields: ['model', 'messages', 'stop'] };
    const body = { stop: 'x', user: 'u', logit_bias: null, 'x"y': 1 };
    expect(fitted(strict, body)).toEqual({
      body: { ...hi, stop: 'x' },
      dropped: ['user', 'other'],
    });
    const lax: ChatQuirks = { refusedFields: ['user'] };
    expect(fitted(lax, { user: 'u', brand_new: [1] })).toEqual({
      body: { ...hi, brand_new: [1] },
      dropped: ['user'],
    });
  });

  it('keeps what the target was given on purpose', () => {
    const quirks: ChatQuirks = { onlyFields: ['model', 'messages'] };
    const call = owning(callOf(hi, { extraFields: { beam_width: 4 } }), { seed: 3 });
    expect(sent(openaiChatWith(quirks), call).body).toMatchObject({ beam_width: 4, seed: 3 });
  });

  it('asks for usage only where the question is known', () => {
    const stream = { stream: true, stream_options: { include_usage: false } };
    expect(fitted({ takesStreamOptions: false }, stream).body).toEqual({ ...hi, stream: true });
  });

  it('holds a service tier that the server knows, or none', () => {
    const quirks: ChatQuirks = { serviceTiers: ['flex'] };
    expect(fitted(quirks, { service_tier: 'flex' }).dropped).toEqual([]);
    expect(fitted(quirks, { service_tier: 'priority' })).toEqual({
      body: hi,
      dropped: ['service_tier'],
    });
  });

  it.each([
    ['minimal', ['low', 'high'], 'low'],
    ['xhigh', ['none', 'low', 'high'], 'high'],
    ['medium', ['none', 'high'], 'none'],
    ['high', ['none', 'high'], 'high'],
    ['default', ['low'], 'default'],
    ['high', [], undefined],
  ])('gives the effort %s to a model that knows %j as %s', (wanted, efforts, given) => {
    const { body, dropped } = fitted({}, { reasoning_effort: wanted }, { efforts });
    expect(body['reasoning_effort']).toBe(given);
    expect(dropped).toEqual(given === wanted ? [] : ['reasoning_effort']);
  });

  it('says an effort in other words where the server has them', () => {
    const quirks: ChatQuirks = { effortFields: { none: { thinking: { type: 'disabled' } } } };
    expect(fitted(quirks, { reasoning_effort: 'none' })).toEqual({
      body: { ...hi, thinking: { type: 'disabled' } },
      dropped: [],
    });
  });

  const f = { type: 'function', function: { name: 'f', parameters: { n: 1.5 } } };
  const g = { type: 'function', function: { name: 'g' } };

  it.each([
    ['auto', 'auto'],
    ['required', 'required'],
  ])('offers only the tools of a subset (%s) where subsets are not known', (mode, choice) => {
    const allowed = { mode, tools: [{ type: 'function', function: { name: 'g' } }] };
    const tool_choice = { type: 'allowed_tools', allowed_tools: allowed };
    const { body } = fitted({ toolChoice: 'no_subset' }, { tools: [f, g], tool_choice });
    expect(body).toEqual({ ...hi, tools: [g], tool_choice: choice });
    expect(fitted({}, { tools: [f, g], tool_choice }).body).toEqual({
      ...hi,
      tools: [f, g],
      tool_choice,
    });
  });

  it('offers no tools where none may be called and the server would call them, or where there are none', () => {
    const none = { tools: [f], tool_choice: 'none' };
    expect(fitted({ toolChoice: 'ignored' }, none).body).toEqual(hi);
    expect(fitted({ toolChoice: 'no_subset' }, none).body).toEqual({ ...hi, ...none });
    expect(fitted({ outputLimit: 'max_tokens' }, { tools: [] }).body).toEqual(hi);
  });

  it('leaves every byte that it does not concern', () => {
    const quirks: ChatQuirks = { refusedFields: ['user'], messages: { takesDeveloperRole: false } };
    const text =
      '{ "messages" : [ {"role":"user","content":"\\u0068\\ud800 é"} ],"seed":9007199254740993, "top_p":1.0,"user":"u"}';
    const { request } = callOf(hi);
    const bytes = Buffer.from(text);
    const original = { ...request.original, bytes, json: JSON.parse(text), fields: undefined };
    delete (original as { fields?: unknown }).fields;
    const call = { ...callOf(hi), request: { ...request, original } };
    const encoded = openaiChatWith(quirks).encodeCall(call);
    expect(encoded.ok && encoded.value.body.toString()).toBe(
      text.replace(',"user":"u"', ',"model":"claude-sonnet-4-5"'),
    );
  });
});

describe('messages for a server that differs', () => {
  const call = (id: string): Json => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  });
  const calling = (...ids: string[]): Json => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map(call),
  });
  const answer = (id: string): Json => ({ role: 'tool', tool_call_id: id, content: 'r' });

  it('TR-11 call ids are so many letters and digits, the same for a call and its result', () => {
    const ids = ['call_abc', 'x'.repeat(60), 'abcDEF123', 'functions.f:0'];
    const messages = [user('q'), calling(...ids), ...ids.map(answer)];
    const written = messagesOf({ messages: { callIdLength: 9 } }, messages) as Json[];
    const calls = ((written[1]?.['tool_calls'] ?? []) as Json[]).map(({ id }) => id);
    expect(written.slice(2).map((message) => message['tool_call_id'])).toEqual(calls);
    expect(new Set(calls).size).toBe(4);
    for (const id of calls) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(calls[2]).toBe('abcDEF123');
  });

  it('a developer speaks as the system, nobody has a name, and only known fields are left', () => {
    const quirks: ChatQuirks = {
      messages: {
        takesDeveloperRole: false,
        takesNames: false,
        onlyFields: ['role', 'content', 'tool_calls', 'tool_call_id'],
      },
    };
    const messages = [
      { role: 'developer', content: 'd' },
      { role: 'user', name: 'ann', content: 'q' },
      { role: 'assistant', content: null, refusal: 'no', annotations: [], audio: null },
      { role: 'assistant', content: 'a', refusal: null },
      user('more'),
    ];
    const { body, dropped } = fitted(quirks, { messages });
    expect(body['messages']).toEqual([
      { role: 'system', content: 'd' },
      user('q'),
      { role: 'assistant', content: 'no' },
      { role: 'assistant', content: 'a' },
      user('more'),
    ]);
    expect(dropped).toEqual(['name']);
  });

  it('TR-14 reasoning goes back in the one place where the server wants its own', () => {
    const echo = { place: 'reasoning_details', isForCallsAlone: false, isRequiredWithCalls: false };
    const details = [{ type: 'reasoning.text', text: 't', signature: 's', index: 0 }];
    const turn = { role: 'assistant', content: 'a', reasoning: 'r', reasoning_details: details };
    expect(messagesOf({ messages: { echo } }, [user('q'), turn, user('q')])).toEqual([
      user('q'),
      { role: 'assistant', content: 'a', reasoning_details: details },
      user('q'),
    ]);
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 't' }] },
      { type: 'text', text: 'a' },
    ];
    const thinking = { ...echo, place: 'thinking' };
    const said = { role: 'assistant', content: parts };
    expect(messagesOf({ messages: { echo: thinking } }, [user('q'), said, user('q')])).toEqual([
      user('q'),
      said,
      user('q'),
    ]);
  });

  it('TR-14 reasoning that only tool loops want is left out elsewhere, and made up as empty where it must be', () => {
    const echo = { place: 'reasoning_content', isForCallsAlone: true, isRequiredWithCalls: true };
    const messages = [
      user('q'),
      { role: 'assistant', content: 'a', reasoning_content: 'plain' },
      user('q'),
      { ...calling('c1'), reasoning_content: 'looped' },
      answer('c1'),
      calling('c2'),
      answer('c2'),
    ];
    const written = messagesOf({ messages: { echo } }, messages, { isReasoningModel: true });
    expect(written).toEqual([
      user('q'),
      { role: 'assistant', content: 'a' },
      user('q'),
      { ...calling('c1'), reasoning_content: 'looped' },
      answer('c1'),
      { ...calling('c2'), reasoning_content: '' },
      answer('c2'),
    ]);
    const plain = messagesOf({ messages: { echo } }, messages.slice(5).toSpliced(0, 0, user('q')));
    expect(plain).toEqual([user('q'), calling('c2'), answer('c2')]);
  });

  it('a last turn of the assistant is marked as one to go on with', () => {
    const quirks: ChatQuirks = { messages: { prefillMark: { prefix: true } } };
    const turn = { role: 'assistant', content: 'so' };
    expect(messagesOf(quirks, [user('q'), turn, user('q'), turn])).toEqual([
      user('q'),
      turn,
      user('q'),
      { ...turn, prefix: true },
    ]);
  });
});

describe('a request that the server would not serve as it is meant', () => {
  const missing = (quirks: ChatQuirks, body: Json) =>
    openaiChatWith(quirks).missingAbility(callOf({ ...hi, ...body }).request);
  const image = (url: string) => ({
    messages: [user([{ type: 'image_url', image_url: { url } }])],
  });
  const link = image('https://example.com/a.png');
  const bytes = image('data:image/png;base64,iVBORw0KGgo=');
  const file = (type: string) => ({
    messages: [
      user([{ type: 'file', file: { filename: 'a', file_data: `data:${type};base64,aGk=` } }]),
    ],
  });
  const tools = [{ type: 'function', function: { name: 'f' } }];

  it.each<[string | null, ChatQuirks, Json]>([
    [null, { stopSequencesMax: 4 }, { stop: ['a', 'b', 'c', 'd'] }],
    ['stop', { stopSequencesMax: 4 }, { stop: ['a', 'b', 'c', 'd', 'e'] }],
    ['tool_choice', { toolChoice: 'ignored' }, { tools, tool_choice: 'required' }],
    [null, { toolChoice: 'ignored' }, { tools, tool_choice: 'none' }],
    ['web_search', { onlyFields: [] }, { web_search_options: {} }],
    [null, { onlyFields: ['prediction'] }, { prediction: {}, user: 'u' }],
    ['audio_output', { refusedFields: ['audio'] }, { audio: {} }],
    ['provider_tools', { refusedFields: ['functions'] }, { functions: [{ name: 'f' }] }],
    [null, { providerTools: [] }, { functions: [{ name: 'f' }] }],
    ['provider_tools', { providerTools: [] }, { tools: [{ type: 'custom', custom: {} }] }],
    [null, { providerTools: ['search'], onlyFields: [] }, { tools: [{ type: 'search' }] }],
    ['provider_tools', { providerTools: [] }, { messages: [user([{ type: 'video_url' }])] }],
    [null, { providerTools: ['content:video_url'] }, { messages: [user([{ type: 'video_url' }])] }],
    ['images', { refusedParts: ['image'] }, bytes],
    ['images', { refusedParts: ['image_link'] }, link],
    [null, { refusedParts: ['image_link'] }, bytes],
    ['images', { imagesMax: 1 }, { messages: [...link.messages, ...bytes.messages] }],
    ['documents', { refusedParts: ['file'] }, file('application/pdf')],
    ['documents', { refusedParts: ['file'] }, file('text/plain')],
    [
      'audio',
      { refusedParts: ['audio'] },
      { messages: [user([{ type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } }])] },
    ],
  ])('lacks %s: %j', (ability, quirks, body) => {
    expect(missing(quirks, body)).toBe(ability);
  });
});
