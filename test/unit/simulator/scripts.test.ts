/** Scripts on the wire, seen through bare sockets. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ScriptedCall } from '../../../src/simulator/script/scripted-call.ts';
import {
  type SimulatedUpstream,
  startSimulatedUpstream,
} from '../../support/simulated-upstream.ts';
import {
  bodyText,
  dataEvents,
  parseReply,
  type RawOptions,
  type RawReply,
  rawRequest,
} from './raw-client.ts';
import { type Asked, streamed, validRequests } from './requests.ts';

let upstream: SimulatedUpstream;

beforeAll(async () => {
  upstream = await startSimulatedUpstream();
});
beforeEach(() => upstream.control.clear());
afterAll(() => upstream.close());

function ask(name: Asked, options: RawOptions = {}, request = streamed(name)): Promise<RawReply> {
  const url = upstream.url(name) + request.path;
  return rawRequest(url, request.body, {
    ...options,
    headers: { ...request.headers, ...options.headers },
  });
}

async function scripted(name: Asked, call: ScriptedCall, options?: RawOptions): Promise<RawReply> {
  upstream.script(name, [call]);
  return ask(name, options);
}

describe('the steps of openai', () => {
  it('write its chunks', async () => {
    const sse = [
      'ROLE',
      'T:he',
      'THINK:hm',
      'TOOL:0:call_a:f:{"x":',
      'TOOL:0:::1}',
      'FIN:tool_calls',
      'USAGE:3:2',
      'PING',
      'C: note',
      'DONE',
    ];
    const reply = await scripted('p1', { sse });
    const parsed = parseReply(reply.bytes);
    expect(parsed).toMatchObject({ status: 200, isComplete: true });
    expect(parsed.headers['content-type']).toContain('text/event-stream');
    expect(parsed.headers['x-request-id']).toMatch(/^req_[0-9a-f]{24}$/);
    const text = parsed.body.toString();
    const choice = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    expect(dataEvents(text)).toMatchObject([
      choice({ role: 'assistant', content: '' }),
      choice({ content: 'he' }),
      choice({ reasoning_content: 'hm' }),
      choice({
        tool_calls: [
          { index: 0, id: 'call_a', type: 'function', function: { name: 'f', arguments: '{"x":' } },
        ],
      }),
      choice({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      choice({}, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
    ]);
    expect(text).toContain(': keep-alive\n\n: note\n\ndata: [DONE]\n\n');
  });

  it('leave out the empty parts of a tool delta', async () => {
    const text = bodyText(
      await scripted('p1', { sse: ['TOOL::call_a:f:{}', 'TOOL:0:call_b::2}'] }),
    );
    expect(text).toContain(
      '"tool_calls":[{"id":"call_a","type":"function","function":{"name":"f","arguments":"{}"}}]',
    );
    expect(text).toContain(
      '"tool_calls":[{"index":0,"id":"call_b","function":{"arguments":"2}"}}]',
    );
  });
});

describe('the steps of anthropic', () => {
  it('write its events, one open block at a time', async () => {
    const sse = [
      'ROLE',
      'PING',
      'THINK:hm',
      'T:he',
      'T:llo',
      'TOOL:0:tu_1:now:',
      'TOOL:1:tu_2:f:{"a"',
      'TOOL:1::::1}',
      'FIN:tool_use',
      'USAGE:9:4',
      'DONE',
    ];
    const text = bodyText(await scripted('p2', { sse }));
    const events = dataEvents(text) as readonly { type: string; index?: number }[];
    expect(text.match(/^event: .*$/gm)).toEqual(events.map(({ type }) => `event: ${type}`));
    expect(
      events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`)),
    ).toEqual([
      'message_start',
      'ping',
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_stop 2',
      'content_block_start 3',
      'content_block_delta 3',
      'content_block_delta 3',
      'content_block_stop 3',
      'message_delta',
      'message_stop',
    ]);
    expect(events).toMatchObject([
      { message: { type: 'message', role: 'assistant', content: [], usage: { output_tokens: 1 } } },
      {},
      { content_block: { type: 'thinking', thinking: '' } },
      { delta: { type: 'thinking_delta', thinking: 'hm' } },
      { delta: { type: 'signature_delta', signature: 'sig-1' } },
      {},
      { content_block: { type: 'text', text: '' } },
      { delta: { type: 'text_delta', text: 'he' } },
      { delta: { type: 'text_delta', text: 'llo' } },
      {},
      { content_block: { type: 'tool_use', id: 'tu_1', name: 'now', input: {} } },
      {},
      { content_block: { type: 'tool_use', id: 'tu_2', name: 'f', input: {} } },
      { delta: { type: 'input_json_delta', partial_json: '{"a"' } },
      { delta: { type: 'input_json_delta', partial_json: ':1}' } },
      {},
      {
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { input_tokens: 9, output_tokens: 4 },
      },
      {},
    ]);
  });

  it('tell a usage that stands before the finish in the finish too', async () => {
    const text = bodyText(
      await scripted('p2', { sse: ['ROLE', 'USAGE:9:4', 'FIN:end_turn', 'DONE'] }),
    );
    const usages = dataEvents(text).filter(
      (event) => (event as { type: string }).type === 'message_delta',
    );
    expect(usages).toMatchObject([
      { delta: { stop_reason: null }, usage: { output_tokens: 4 } },
      { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
    ]);
  });

  it('give the same message id when a stream opens twice', async () => {
    const events = dataEvents(
      bodyText(await scripted('p2', { sse: ['ROLE', 'ROLE'] })),
    ) as readonly {
      message: { id: string };
    }[];
    expect(events[0]?.message.id).toBe(events[1]?.message.id);
  });
});

describe('the steps of gemini', () => {
  it('write its chunks, with CRLF and without an end marker', async () => {
    const sse = [
      'T:he',
      'THINK:hm',
      'TOOL:0::w:{"c":"A"}',
      'TOOL:0:id9:w:',
      'FIN:STOP',
      'USAGE:3:2',
      'PING',
      'DONE',
    ];
    const text = bodyText(await scripted('p3', { sse }));
    const part = (one: object) => ({ candidates: [{ content: { role: 'model', parts: [one] } }] });
    expect(dataEvents(text)).toMatchObject([
      part({ text: 'he' }),
      part({ text: 'hm', thought: true }),
      part({ functionCall: { name: 'w', args: { c: 'A' } }, thoughtSignature: 'sig-1' }),
      part({ functionCall: { id: 'id9', name: 'w' }, thoughtSignature: 'sig-2' }),
      {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      },
    ]);
    expect(text.endsWith('\r\n\r\n: keep-alive\r\n\r\n')).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it('open with a chunk that has no content', async () => {
    const events = dataEvents(bodyText(await scripted('p3', { sse: ['ROLE'] })));
    expect(events).toHaveLength(1);
    expect(events[0]).not.toHaveProperty('candidates');
  });
});

describe('raw bytes, line ends and cuts', () => {
  it('RAW and RAWB go out as they are', async () => {
    const reply = await scripted('p1', {
      sse: [String.raw`RAW:data: {\"a\":1}\n\n`, 'RAWB:ff00fe'],
    });
    expect(parseReply(reply.bytes).body).toEqual(
      Buffer.concat([Buffer.from('data: {"a":1}\n\n'), Buffer.from([0xff, 0, 0xfe])]),
    );
  });

  it.each(['\n', '\r\n', '\r'])('ST-14 events end in %j when the script says so', async (eol) => {
    const text = bodyText(
      await scripted('p1', { sse: ['ROLE', 'T:hello', 'FIN:stop', 'DONE'], eol }),
    );
    expect(text.endsWith(`data: [DONE]${eol}${eol}`)).toBe(true);
    expect(text.split(`${eol}${eol}`)).toHaveLength(5);
    expect(text.replaceAll(eol, '')).not.toMatch(/[\r\n]/);
  });

  it.each([1, 2, 3, 5, 7, 64])('ST-13 split %i leaves the bytes as they are', async (split) => {
    const sse = ['ROLE', 'T:你好🌍é', 'FIN:stop', 'DONE'];
    const whole = bodyText(await scripted('p1', { sse, split: 0 }));
    const cut = bodyText(await scripted('p1', { sse, split }));
    const sameId = (text: string): string =>
      text.replaceAll(/chatcmpl-sim[0-9a-f]+|"created":\d+/g, 'ID');
    expect(sameId(cut)).toBe(sameId(whole));
  });

  it('split writes that many bytes at a time, across events', async () => {
    const reply = await scripted('p1', {
      sse: ['RAW:abc', 'RAW:defgh', 'SLEEP:1', 'RAW:ij'],
      split: 4,
    });
    expect(reply.bytes.toString('latin1')).toContain(
      '\r\n4\r\nabcd\r\n4\r\nefgh\r\n2\r\nij\r\n0\r\n\r\n',
    );
  });

  it('a body is split too', async () => {
    const reply = await scripted('p1', { body: { a: 'b' }, split: 1 });
    const { body, isComplete, headers } = parseReply(reply.bytes);
    expect([body.toString(), isComplete, headers['content-type']]).toEqual([
      '{"a":"b"}',
      true,
      'application/json',
    ]);
  });
});

describe('waits and ends', () => {
  it('SLEEP waits, REP repeats', async () => {
    const startedMs = performance.now();
    const text = bodyText(
      await scripted('p1', { sse: [{ repeat: 2, steps: ['T:x ', 'SLEEP:15'] }, 'REP:3:T:y '] }),
    );
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(29);
    expect(text.match(/"content":"x "/g)).toHaveLength(2);
    expect(text.match(/"content":"y "/g)).toHaveLength(3);
  });

  it('delay holds back the first byte', async () => {
    const startedMs = performance.now();
    await scripted('p1', { delay: 30, body: { choices: [] } });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(29);
  });

  it('HANG sends the head, then nothing, and stays open', async () => {
    const reply = await scripted(
      'p1',
      { sse: ['HANG'] },
      { leaveWhen: (text) => text.includes('\r\n\r\n') },
    );
    expect(reply.end).toBe('left');
    expect(parseReply(reply.bytes)).toMatchObject({ status: 200, isComplete: false });
    await upstream.until(() => upstream.control.openRequests('p1') === 0);
  });

  it('END closes cleanly, also before the last step', async () => {
    const reply = await scripted('p1', { sse: ['T:a', 'END', 'T:b'] });
    expect(parseReply(reply.bytes).isComplete).toBe(true);
    expect(bodyText(reply)).not.toContain('"b"');
  });

  it('CUT drops the socket without a final chunk, after all that was written', async () => {
    const reply = await scripted('p1', { sse: ['ROLE', 'REP:40:T:w ', 'CUT'] });
    expect(parseReply(reply.bytes)).toMatchObject({ status: 200, isComplete: false });
    expect(dataEvents(bodyText(reply))).toHaveLength(41);
  });

  it('RST resets the connection', async () => {
    const reply = await scripted('p1', { sse: ['ROLE', 'SLEEP:5', 'RST'] });
    expect(reply.end).toBe('reset');
  });

  it('big steps arrive whole', async () => {
    const text = bodyText(
      await scripted('p1', { sse: ['REP:100:T:<x>'.replace('<x>', 'x'.repeat(20_000)), 'DONE'] }),
    );
    expect(text.match(/x/g)?.length).toBeGreaterThanOrEqual(2_000_000);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});

describe('calls of a script', () => {
  it('answer in order, and the last repeats', async () => {
    upstream.script('p1', [
      { status: 503 },
      { status: 429, headers: { 'retry-after': '2' } },
      { body: 'ok' },
    ]);
    const before = upstream.control.calls('p1');
    const replies: unknown[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const { status, headers } = parseReply((await ask('p1')).bytes);
      replies.push([status, headers['retry-after'], headers['content-length']]);
    }
    expect(replies).toEqual([
      [503, undefined, '0'],
      [429, '2', '0'],
      [200, undefined, undefined],
      [200, undefined, undefined],
    ]);
    expect(upstream.control.calls('p1') - before).toBe(4);
    expect(
      upstream
        .requests('p1')
        .slice(-4)
        .map((one) => one.answeredBy),
    ).toEqual([
      { kind: 'script', call: 1 },
      { kind: 'script', call: 2 },
      { kind: 'script', call: 3 },
      { kind: 'script', call: 4 },
    ]);
  });

  it.each(['p1', 'p2', 'p3'] as const)(
    'a plain word from %s is the smallest valid reply',
    async (name) => {
      upstream.script(name, [{ body: 'ok' }]);
      const whole = JSON.parse(bodyText(await ask(name, {}, validRequests[name])));
      const said = {
        p1: () => whole.choices[0].message.content,
        p2: () => whole.content[0].text,
        p3: () => whole.candidates[0].content.parts[0].text,
      }[name]();
      expect(said).toBe('ok');
      expect(bodyText(await ask(name))).toContain('"ok"');
    },
  );

  it.each([
    ['p1', 'length', '"finish_reason":"length"'],
    ['p2', 'max_tokens', '"stop_reason":"max_tokens"'],
    ['p3', 'MAX_TOKENS', '"finishReason": "MAX_TOKENS"'],
  ] as const)('a text from %s may end with %s', async (name, finish, expected) => {
    upstream.script(name, [{ text: 'cut "finish_reason":"stop"', finish }]);
    expect(bodyText(await ask(name, {}, validRequests[name]))).toContain(expected);
    expect(bodyText(await ask(name))).toContain(finish);
  });

  it('HTML, lists and objects go out as they are', async () => {
    upstream.script('p1', [
      { headers: { 'content-type': 'text/html' }, body: '<html>lost</html>' },
      { body: { choices: [] } },
    ]);
    const page = parseReply((await ask('p1')).bytes);
    expect([page.headers['content-type'], page.body.toString()]).toEqual([
      'text/html',
      '<html>lost</html>',
    ]);
    expect(bodyText(await ask('p1'))).toBe('{"choices":[]}');
  });

  it('SE-13 a content-encoding is true of a body and of a stream', async () => {
    upstream.script('p1', [
      { headers: { 'content-encoding': 'gzip' }, text: 'ok' },
      { headers: { 'content-encoding': 'br' }, sse: ['ROLE', 'T:hello', 'FIN:stop', 'DONE'] },
    ]);
    const whole = parseReply((await ask('p1', {}, validRequests.p1)).bytes);
    expect(JSON.parse(gunzipSync(whole.body).toString()).choices[0].message.content).toBe('ok');
    const stream = parseReply((await ask('p1')).bytes);
    expect(stream.isComplete).toBe(true);
    expect(brotliDecompressSync(stream.body).toString()).toContain('"content":"hello"');
  });

  it('a bare delay or header keeps the own answer', async () => {
    upstream.script('p1', [{ headers: { 'x-extra': 'yes' } }]);
    const reply = parseReply((await ask('p1', {}, validRequests.p1)).bytes);
    expect(reply.headers['x-extra']).toBe('yes');
    expect(reply.body.toString()).toContain('simulated answer from OpenAI');
  });

  it('socket steps are the whole of what is written', async () => {
    const reply = await scripted('p1', {
      socket: [String.raw`RAW:HTTP/1.1 200 OK\r\ncontent-le`, 'CUT'],
    });
    expect(reply.bytes.toString()).toBe('HTTP/1.1 200 OK\r\ncontent-le');
    const nonsense = await scripted('p1', { socket: [String.raw`RAW:SSH-2.0-nope\r\n`] });
    expect(nonsense.bytes.toString()).toBe('SSH-2.0-nope\r\n');
    expect(nonsense.end).toBe('end');
  });

  it('ST-20 a promised length may stay unfulfilled', async () => {
    upstream.given({
      p1: 'raw socket: 200, content-length 500, sends 40 bytes of JSON, then silence',
    });
    const reply = await ask('p1', {
      leaveWhen: (text) => (text.split('\r\n\r\n')[1]?.length ?? 0) >= 40,
    });
    const { headers, body } = parseReply(reply.bytes);
    expect([headers['content-length'], body.length, reply.end]).toEqual(['500', 40, 'left']);
    await upstream.until(() => upstream.requests('p1').at(-1)?.end === 'peer_closed');
  });

  it('answer also what the rules would refuse, and keep the complaint', async () => {
    upstream.script('p2', [{ body: 'ok' }]);
    const { path, headers } = streamed('p2');
    await rawRequest(
      upstream.url('p2') + path,
      { model: 'claude-sonnet-4-5', messages: [] },
      { headers },
    );
    expect(upstream.requests('p2').at(-1)).toMatchObject({
      status: 200,
      complaint: 'max_tokens: Field required',
      answeredBy: { kind: 'script' },
    });
  });

  it('count and list requests are no calls of the script', async () => {
    upstream.script('p2', [{ status: 529 }, { body: 'ok' }]);
    const { headers, body } = validRequests.p2;
    const { max_tokens: _, ...counted } = body;
    const count = await rawRequest(`${upstream.url('p2')}/v1/messages/count_tokens`, counted, {
      headers,
    });
    expect(JSON.parse(bodyText(count))).toEqual({ input_tokens: expect.any(Number) });
    expect(parseReply((await ask('p2')).bytes).status).toBe(529);
  });

  it('a wrong script is refused at once', () => {
    expect(() => upstream.script('p1', [{ sse: ['NO'] }])).toThrow(
      'script of p1: calls[0].sse[0]: unknown step',
    );
  });
});
