import { describe, expect, it } from 'vitest';
import type { ToolMessage } from '../../../../src/chat/request.ts';
import { geminiUpstream as dialect } from '../../../../src/dialects/gemini/upstream.ts';
import {
  callOf,
  calls,
  faultOf,
  type Json,
  result,
  sent,
  toolCall,
  user,
} from '../upstream-calls.ts';

const dummy = 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=';

function send(body: Json, model = 'gemini-3-pro-preview') {
  return sent(dialect, callOf(body, { model }));
}

/** The ids that a client gets for the calls of one answer of `modelVersion`. */
function idsFrom(parts: readonly Json[], modelVersion = 'gemini-3-pro-preview', responseId = 'r1') {
  const reply = {
    candidates: [{ content: { parts }, finishReason: 'STOP' }],
    modelVersion,
    responseId,
  };
  return dialect
    .decodeReply(Buffer.from(JSON.stringify(reply)))
    .flatMap((part) => part.events)
    .flatMap((event) => (event.type === 'tool_call_start' ? [event.id] : []));
}

const called = (name: string, rest: Json = {}, id: Json = {}) => ({
  functionCall: { name, args: {}, ...id },
  ...rest,
});

function answered(ids: readonly string[], model: string) {
  const history = ids.map((id) => toolCall(id, 'f', '{}'));
  return send(
    { messages: [user('q'), calls(...history), ...ids.map((id) => result(id, '1'))] },
    model,
  );
}

describe('turns', () => {
  it('TR-06 alternate, with the leading system text apart and later system text in place', () => {
    const { body } = send({
      messages: [
        { role: 'system', content: 's1' },
        { role: 'developer', content: 's0' },
        user('a'),
        user('b'),
        { role: 'system', content: 's2' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
        user('e'),
      ],
    });
    expect(body['systemInstruction']).toEqual({ parts: [{ text: 's1\n\ns0' }] });
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }, { text: '<system>\ns2\n</system>' }] },
      { role: 'model', parts: [{ text: 'c' }, { text: 'd' }] },
      { role: 'user', parts: [{ text: 'e' }] },
    ]);
  });

  it('TR-07 hold no blank text and no empty content', () => {
    const { body } = send({
      messages: [
        user([
          { type: 'text', text: '' },
          { type: 'text', text: 'hi' },
        ]),
        { role: 'assistant', content: '', tool_calls: [toolCall('a', 'f', '{}')] },
        result('a', ''),
        { role: 'assistant', content: ' \n' },
        user('go'),
      ],
    });
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'hi' }] },
      {
        role: 'model',
        parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: dummy }],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'f', response: { output: '' } } }, { text: 'go' }],
      },
    ]);
  });

  it('TR-14 TR-13 hold no reasoning of another vendor', () => {
    const messages = [
      user('q'),
      { role: 'assistant', content: 'a', reasoning_content: 'SECRET-CHAIN' },
      user('go'),
    ];
    expect(send({ messages }).text).not.toContain('SECRET-CHAIN');
  });

  it('begin with the user', () => {
    expect(send({ messages: [{ role: 'assistant', content: 'hello' }] }).at('contents.0')).toEqual({
      role: 'user',
      parts: [{ text: '(start of conversation)' }],
    });
  });
});

describe('tool calls', () => {
  it('TR-04 have their results first, in the order of the calls, under the names of the calls', () => {
    const { at } = send({
      messages: [
        user('q'),
        calls(toolCall('a', 'f', '{"x":1}'), toolCall('b', 'g', '')),
        user('by the way'),
        result('b', '2'),
        result('a', '1'),
      ],
    });
    expect(at('contents.1.parts')).toEqual([
      { functionCall: { name: 'f', args: { x: 1 } }, thoughtSignature: dummy },
      { functionCall: { name: 'g', args: {} } },
    ]);
    expect(at('contents.2.parts')).toEqual([
      { functionResponse: { name: 'f', response: { output: '1' } } },
      { functionResponse: { name: 'g', response: { output: '2' } } },
      { text: 'by the way' },
    ]);
  });

  it('with arguments that are no object are refused, naming the call', () => {
    const messages = [user('q'), calls(toolCall('call_7', 'f', '{"x":')), result('call_7', '1')];
    expect(faultOf(dialect, callOf({ messages })).message).toContain('"call_7" (f)');
  });

  it('put errors and media of results where the service takes them', () => {
    const call = callOf({
      messages: [user('q'), calls(toolCall('a', 'f', '{}')), result('a', 'bad')],
    });
    const source = { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } as const;
    const failed: ToolMessage = {
      role: 'tool',
      toolCallId: 'a',
      isError: true,
      content: [
        { type: 'text', text: 'bad' },
        { type: 'image', source, detail: null },
      ],
    };
    const messages = call.request.messages.map((message) =>
      message.role === 'tool' ? failed : message,
    );
    const { at } = sent(dialect, { ...call, request: { ...call.request, messages } });
    expect(at('contents.2.parts')).toEqual([
      { functionResponse: { name: 'f', response: { error: 'bad' } } },
      { text: 'Content of the result of f:' },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ]);
  });

  it('with names that the service does not take are spelled in another way, back and forth', () => {
    const [id = ''] = idsFrom([called('tgn_1st-2ftool')]);
    const decoded = dialect.decodeReply(
      Buffer.from(
        JSON.stringify({
          candidates: [{ content: { parts: [called('tgn_1st-2dtool')] }, finishReason: 'STOP' }],
        }),
      ),
    );
    expect(decoded[0]?.events.find((event) => event.type === 'tool_call_start')).toMatchObject({
      name: '1st-tool',
    });
    const { at } = send({
      messages: [user('q'), calls(toolCall(id, '1st-tool', '{}')), result(id, '1')],
    });
    expect(at('contents.1.parts.0.functionCall.name')).toBe('tgn_1st-2dtool');
    expect(at('contents.2.parts.0.functionResponse.name')).toBe('tgn_1st-2dtool');
  });
});

describe('signatures', () => {
  const real = Buffer.from('a thought, signed').toString('base64');

  it.each([real, 'sig-1', 'AbC_-9', 'AbC_', 'AA==', 'not base64 at all: ü', 'CiMBjz1rX25K+/=='])(
    'TR-11 TR-12 come back with their call, byte for byte, out of nothing but its id: %s',
    (thoughtSignature) => {
      const ids = idsFrom([called('f', { thoughtSignature })]);
      expect(ids[0]).toMatch(/^tgs_[A-Za-z0-9_-]+$/);
      const { at } = answered(ids, 'gemini-3-pro-preview');
      expect(at('contents.1.parts.0.thoughtSignature')).toBe(thoughtSignature);
    },
  );

  it('TR-11 of parallel calls are each their own', () => {
    const ids = idsFrom([
      called('f', { thoughtSignature: 'AAAA' }),
      called('f'),
      called('f', { thoughtSignature: 'BBBB' }),
    ]);
    expect(new Set(ids).size).toBe(3);
    const { at } = answered(ids, 'gemini-3-pro-preview');
    expect([0, 1, 2].map((index) => at(`contents.1.parts.${index}.thoughtSignature`))).toEqual([
      'AAAA',
      undefined,
      'BBBB',
    ]);
  });

  it('TR-11 carry the provider’s own id, for the call and its result', () => {
    const ids = idsFrom([
      called('f', { thoughtSignature: 'AAAA' }, { id: '0usajhl5' }),
      called('f', {}, { id: 'odd id:1' }),
    ]);
    const { at } = answered(ids, 'gemini-3-pro-preview');
    expect(at('contents.1.parts.0.functionCall.id')).toBe('0usajhl5');
    expect(at('contents.2.parts.0.functionResponse.id')).toBe('0usajhl5');
    expect(at('contents.2.parts.1.functionResponse.id')).toBe('odd id:1');
  });

  it('stay within the family of models that made them', () => {
    const ids = idsFrom(
      [called('f', { thoughtSignature: real }), called('f')],
      'gemini-3-pro-preview-11-2025',
    );
    for (const model of [
      'gemini-3-pro',
      'models/gemini-3-pro-latest',
      'publishers/google/models/gemini-3-pro@001',
    ]) {
      expect(answered(ids, model).at('contents.1.parts.0.thoughtSignature')).toBe(real);
    }
    for (const model of ['gemini-3-flash-preview', 'gemini-3.1-pro', 'gemini-2.5-pro']) {
      const { at, text } = answered(ids, model);
      expect(at('contents.1.parts.0.thoughtSignature')).toBe(dummy);
      expect(at('contents.1.parts.1.thoughtSignature')).toBeUndefined();
      expect(text).not.toContain(real);
    }
  });

  it('of a foreign history are the documented dummy, on the first call of each step', () => {
    const { at } = send({
      messages: [
        user('q'),
        calls(toolCall('toolu_1', 'f', '{}'), toolCall('toolu_2', 'f', '{}')),
        result('toolu_1', '1'),
        result('toolu_2', '2'),
        calls(toolCall('call_3', 'f', '{}')),
        result('call_3', '3'),
      ],
    });
    expect(at('contents.1.parts.0.thoughtSignature')).toBe(dummy);
    expect(at('contents.1.parts.1.thoughtSignature')).toBeUndefined();
    expect(at('contents.3.parts.0.thoughtSignature')).toBe(dummy);
    expect(at('contents.1.parts.0.functionCall.id')).toBeUndefined();
  });

  it.each([
    'tgs_',
    'tgs_AAAAAAAAp99short',
    'tgs_!!!!!!!!p01x',
    'tgs_AAAAAAAAz01x',
    `tgs_${'A'.repeat(9000)}`,
  ])('in an id that a client made up are nothing: %s', (id) => {
    expect(answered([id], 'gemini-3-pro').at('contents.1.parts.0.thoughtSignature')).toBe(dummy);
  });

  it('TR-01 ids are distinct without an id of the provider, in an answer and from answer to answer', () => {
    const parts = [called('w'), called('w'), called('w')];
    const ids = [
      ...idsFrom(parts, 'gemini-2.5-pro', 'r1'),
      ...idsFrom(parts, 'gemini-2.5-pro', 'r2'),
    ];
    expect(new Set(ids).size).toBe(6);
    expect(idsFrom(parts, 'gemini-2.5-pro', 'r1')).toEqual(ids.slice(0, 3));
  });
});

describe('media', () => {
  it('TR-20 go inline out of data URLs, sound and documents too', () => {
    const { at, dropped } = send({
      messages: [
        user([
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
          {
            type: 'file',
            file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' },
          },
        ]),
      ],
    });
    expect(at('contents.0.parts')).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'BBBB' } },
      { inlineData: { mimeType: 'application/pdf', data: 'CCCC' } },
    ]);
    expect(dropped).toEqual(['detail', 'filename']);
  });

  it('TR-21 go as links only into the service’s own stores', () => {
    const image = (url: string) =>
      callOf({ messages: [user([{ type: 'image_url', image_url: { url } }])] });
    const own = 'https://generativelanguage.googleapis.com/v1beta/files/abc';
    expect(sent(dialect, image(own)).at('contents.0.parts.0')).toEqual({
      fileData: { fileUri: own },
    });
    expect(sent(dialect, image('gs://bucket/a.png')).at('contents.0.parts.0')).toEqual({
      fileData: { fileUri: 'gs://bucket/a.png', mimeType: 'image/png' },
    });
    for (const url of [own, 'gs://bucket/a.png']) {
      expect(dialect.missingAbility(image(url).request, 'gemini-2.5-flash')).toBeNull();
    }
    for (const url of [
      'http://127.0.0.1:1/a.png',
      'https://example.com/a.png',
      'https://generativelanguage.googleapis.com.example.com/v1beta/files/abc',
      'https://example.com/?https://generativelanguage.googleapis.com/v1beta/files/abc',
    ]) {
      expect(dialect.missingAbility(image(url).request, 'gemini-2.5-flash')).toBe('images');
    }
  });

  it('of the web go as they are to models that are given what lies behind them', () => {
    const image = (url: string) =>
      callOf({ messages: [user([{ type: 'image_url', image_url: { url } }])] });
    const cat = image('https://example.com/cat.png?size=2');
    for (const model of [
      'gemini-3.5-flash',
      'models/gemini-3-pro-preview',
      'gemini-flash-latest',
    ]) {
      expect(dialect.missingAbility(cat.request, model)).toBeNull();
    }
    expect(sent(dialect, cat).at('contents.0.parts.0')).toEqual({
      fileData: { fileUri: 'https://example.com/cat.png?size=2', mimeType: 'image/png' },
    });
    for (const url of ['http://example.com/cat.png', 'https://example.com/cat']) {
      expect(dialect.missingAbility(image(url).request, 'gemini-3.5-flash')).toBe('images');
    }
  });
});
