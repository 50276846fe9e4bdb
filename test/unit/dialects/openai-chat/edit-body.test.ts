import { describe, expect, it } from 'vitest';
import type { UpstreamCall } from '../../../../src/dialects/dialect.ts';
import { openaiChatClient } from '../../../../src/dialects/openai-chat/client.ts';
import { openaiChatUpstream } from '../../../../src/dialects/openai-chat/upstream.ts';

function edited(body: string, change: Partial<UpstreamCall> = {}) {
  const decoded = openaiChatClient.decodeRequest(Buffer.from(body));
  if (!decoded.ok) throw new Error(decoded.fault.message);
  const { request } = decoded.value;
  const encoded = openaiChatUpstream.encodeCall({
    request,
    model: 'gpt-x',
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
  if (!encoded.ok) throw new Error(encoded.fault.message);
  return encoded.value;
}

function text(body: string, change: Partial<UpstreamCall> = {}): string {
  return edited(body, change).body.toString();
}

const m = '"messages":[{"role":"user","content":"hi"}]';

describe('a body of the same dialect', () => {
  it('changes in its model alone, byte for byte', () => {
    const before = ' {\n "model" : "smart",';
    const after = `${m.replace('"hi"', '"\\u0068\\ud800\\/é"')}, "seed":9007199254740993,"temperature":1.0, "brand_new":{"x":[1e2,-0]} }\n`;
    expect(text(before + after)).toBe(` {\n "model" : "gpt-x",${after}`);
  });

  it('gets a model where it had none, and its extension taken out', () => {
    expect(text(`{${m}}`)).toBe(`{${m},"model":"gpt-x"}`);
    expect(text(`{"tiergate":{"eval_run":"r"},"model":"a",${m}}`)).toBe(`{"model":"gpt-x",${m}}`);
    expect(text(`{"model":"a",${m},"tiergate":{"a":"}"}}`)).toBe(`{"model":"gpt-x",${m}}`);
    expect(text(`{"model":"a","tier\\u0067ate":{},${m}}`)).toBe(`{"model":"gpt-x",${m}}`);
  });

  it('says each field once: of two the last counts, for every parser', () => {
    expect(text(`{"model":"a",${m},"model":"b","seed":1,"seed":2}`)).toBe(
      `{${m},"model":"gpt-x","seed":2}`,
    );
  });

  it.each([
    [
      `{"model":"a",${m},"stream":true}`,
      `{"model":"gpt-x",${m},"stream":true,"stream_options":{"include_usage":true}}`,
    ],
    [
      `{"model":"a",${m},"stream":true,"stream_options":{"include_usage":false,"include_obfuscation":false}}`,
      `{"model":"gpt-x",${m},"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true}}`,
    ],
    [
      `{"model":"a",${m},"stream":true,"stream_options":null}`,
      `{"model":"gpt-x",${m},"stream":true,"stream_options":{"include_usage":true}}`,
    ],
  ])('asks for usage on a stream: %s', (body, expected) => {
    expect(text(body)).toBe(expected);
  });

  it('turns a stream off and on', () => {
    const stream = `{"model":"a",${m},"stream":true,"stream_options":{}}`;
    expect(text(stream, { isStream: false })).toBe(`{"model":"gpt-x",${m},"stream":false}`);
    expect(text(`{"model":"a",${m}}`, { isStream: true })).toBe(
      `{"model":"gpt-x",${m},"stream":true,"stream_options":{"include_usage":true}}`,
    );
  });

  it('is given the parameters and fields of its target', () => {
    const body = `{"model":"a",${m},"temperature":0.70,"top_p":0.5}`;
    const { request } = decodedOf(body);
    const parameters = { ...request.parameters, temperature: 0.2, top_p: null, seed: 5 };
    expect(
      text(body, {
        parameters,
        ownedParameters: ['temperature', 'top_p', 'seed'],
        extraFields: { provider: { order: ['x'] }, model: 'evil', messages: [] },
      }),
    ).toBe(`{"model":"gpt-x",${m},"temperature":0.2,"provider":{"order":["x"]},"seed":5}`);
  });

  it.each([
    ['"max_tokens":90,"max_completion_tokens":77', false, '"max_tokens":77'],
    ['"max_tokens":50,"max_completion_tokens":77', true, '"max_completion_tokens":50'],
    ['"max_tokens":90', true, '"max_completion_tokens":90'],
    ['"max_completion_tokens":90', false, '"max_completion_tokens":90'],
    ['"max_tokens":9', false, '"max_tokens":9'],
  ])(
    'TR-09 sends one output limit, under the name the model takes: %s',
    (given, isReasoningModel, sent) => {
      const body = JSON.parse(text(`{"model":"a",${m},${given}}`, { isReasoningModel }));
      const { model: _, messages: __, ...limits } = body;
      expect(limits).toEqual(JSON.parse(`{${sent}}`));
    },
  );

  it('leaves out and names what a reasoning model refuses', () => {
    const body = `{"model":"a",${m},"temperature":0.2,"top_p":1,"logit_bias":{"1":2},"stop":"x"}`;
    const { body: sent, dropped } = edited(body, { isReasoningModel: true });
    expect(sent.toString()).toBe(`{"model":"gpt-x",${m},"top_p":1,"stop":"x"}`);
    expect(dropped).toEqual(['temperature', 'logit_bias']);
  });

  it('gets the variant around its own leading system messages', () => {
    const system = { before: 'B"\n', after: 'A' };
    const own = '{"role":"system","content":"s"}';
    const developer = '{"role":"developer","content":"d"}';
    const user = '{"role":"user","content":"hi"}';
    const [b, a] = ['{"role":"system","content":"B\\"\\n"}', '{"role":"system","content":"A"}'];
    expect(
      text(`{"model":"a","messages":[ ${own}, ${developer} ,${user},${own}]}`, { system }),
    ).toBe(`{"model":"gpt-x","messages":[${b}, ${own}, ${developer},${a} ,${user},${own}]}`);
    expect(text(`{"model":"a","messages":[${user}]}`, { system })).toBe(
      `{"model":"gpt-x","messages":[${b},${a},${user}]}`,
    );
    expect(text(`{"model":"a","messages":[${own}]}`, { system: { before: '', after: 'A' } })).toBe(
      `{"model":"gpt-x","messages":[${own},${a}]}`,
    );
  });

  it('gets the tool descriptions of the variant', () => {
    const tools =
      '[{"type":"function","function":{"name":"f","description":"old","parameters":{"n":1.0}}},{"type":"function","function":{"name":"g"}},{"type":"custom","custom":{"name":"f"}}]';
    expect(
      text(`{"model":"a",${m},"tools":${tools}}`, {
        toolDescriptions: { f: 'new', g: 'G', h: 'H' },
      }),
    ).toBe(
      `{"model":"gpt-x",${m},"tools":${tools.replace('"old"', '"new"').replace('"name":"g"', '"name":"g","description":"G"')}}`,
    );
  });

  it('TR-03 TR-11 sends no id that is too long or carries a signature, and the same one for call and result', () => {
    const long = 'x'.repeat(41);
    const signed = 'tgs_c2ln';
    const body = JSON.stringify({
      messages: [
        { role: 'user', content: long },
        {
          role: 'assistant',
          tool_calls: [long, signed, 'functions.Bash:0', 'functions_Bash_0'].map((id) => ({
            id,
            type: 'function',
            function: { name: 'f', arguments: `{"keep":"${long}"}` },
          })),
        },
        ...[signed, long, 'functions.Bash:0', 'functions_Bash_0'].map((id) => ({
          role: 'tool',
          tool_call_id: id,
          content: 'r',
        })),
      ],
    });
    const sent = JSON.parse(text(body));
    const calls = sent.messages[1].tool_calls.map((call: { id: string }) => call.id);
    const results = sent.messages
      .slice(2)
      .map((each: { tool_call_id: string }) => each.tool_call_id);
    expect(new Set(calls)).toEqual(new Set(results));
    expect(new Set(calls).size).toBe(4);
    expect(calls.slice(2)).toEqual(['functions.Bash:0', 'functions_Bash_0']);
    for (const id of calls) expect(id).toMatch(/^(?!tgs_).{1,40}$/);
    expect(sent.messages[1].tool_calls[0].function.arguments).toBe(`{"keep":"${long}"}`);
    expect(sent.messages[0].content).toBe(long);
    expect(JSON.parse(text(body))).toEqual(sent);
  });

  it('TR-14 sends no reasoning of the history, whoever made it', () => {
    const user = '{"role":"user","content":"q"}';
    const turn =
      '{"role":"assistant","reasoning_content":"SECRET-CHAIN","content":"a","reasoning_details":[{"text":"SECRET-CHAIN"}]}';
    const parts =
      '{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"SECRET-CHAIN"}]},{"type":"text","text":"b"}]}';
    const body = `{"model":"a","messages":[${user},${turn},${user},${parts},${user}]}`;
    expect(text(body)).toBe(
      `{"model":"gpt-x","messages":[${user},{"role":"assistant","content":"a"},${user},{"role":"assistant","content":[{"type":"text","text":"b"}]},${user}]}`,
    );
  });

  it('gets the messages that were added to the request behind its own', () => {
    const body = `{"model":"a",${m}}`;
    const { request } = decodedOf(body);
    const added = {
      ...request,
      messages: [
        ...request.messages,
        { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'so far' }] },
        { role: 'user' as const, name: null, content: [{ type: 'text' as const, text: 'go on' }] },
      ],
    };
    expect(text(body, { request: added })).toBe(
      '{"model":"gpt-x","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"so far"},{"role":"user","content":"go on"}]}',
    );
  });

  it('never lacks an ability', () => {
    const { request } = decodedOf(`{"model":"a",${m},"n":3,"web_search_options":{}}`);
    expect(openaiChatUpstream.missingAbility(request)).toBeNull();
  });
});

function decodedOf(body: string) {
  const decoded = openaiChatClient.decodeRequest(Buffer.from(body));
  if (!decoded.ok) throw new Error(decoded.fault.message);
  return decoded.value;
}

it.each([[['']], [[]], ['']])(
  'a stop that stops nothing (%j) is kept from models that refuse any',
  (stop) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }], stop });
    const told = edited(body, { isReasoningModel: true });
    expect(told.body.toString()).not.toContain('stop');
    expect(told.dropped).toEqual([]);
    expect(edited(body).body.toString()).toContain('"stop"');
  },
);
