import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/chat/request.ts';
import { geminiClient } from '../../../../src/dialects/gemini/client.ts';
import { decode, faultOf, hi, messagesOf, plain, requestOf } from './client-bodies.ts';

describe('the path', () => {
  it.each([
    ['fast:generateContent', 'fast', false],
    ['fast:streamGenerateContent', 'fast', true],
    ['models/fast:generateContent', 'fast', false],
    ['gemini-2.5-flash-001:generateContent', 'gemini-2.5-flash-001', false],
    ['google/gemma-3:generateContent', 'google/gemma-3', false],
  ])('%s names the model and whether to stream', (call, model, isStream) => {
    expect(requestOf({ ...hi, model: 'models/other' }, call)).toMatchObject({ model, isStream });
  });

  it.each(['fast', 'fast:embedContent', ':generateContent', 'fast:generatecontent'])(
    '%s is no call',
    (call) => {
      expect(geminiClient.pathCalls?.dialectFor(call, () => undefined)).toBeNull();
    },
  );

  it('a form of the answer that is none of JSON is refused', () => {
    expect(decode(hi, undefined, 'proto')).toMatchObject({ ok: false, fault: { param: 'alt' } });
  });

  it('without a path the body names the model', () => {
    const decoded = geminiClient.decodeRequest(
      Buffer.from(JSON.stringify({ ...hi, model: 'models/fast' })),
    );
    expect(decoded).toMatchObject({ ok: true, value: { request: { model: 'fast' } } });
  });
});

describe('contents', () => {
  it('are the system text and turns, in either spelling', () => {
    for (const name of ['systemInstruction', 'system_instruction']) {
      const body = {
        [name]: { parts: [{ text: 'one' }, { text: 'two' }] },
        contents: [
          { parts: [{ text: 'hi' }] },
          { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'hello' }] },
          { role: 'user', parts: [{ text: 'a' }, { text: '' }, { text: 'b' }] },
        ],
      };
      expect(plain(requestOf(body).messages)).toEqual([
        {
          role: 'system',
          content: [
            { type: 'text', text: 'one' },
            { type: 'text', text: 'two' },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'hi' }], name: null },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm', signature: null, redacted: null, dialect: 'gemini' },
            { type: 'text', text: 'hello' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
          name: null,
        },
      ]);
    }
  });

  it('single objects where lists are due are taken, as the service takes them', () => {
    const body = {
      system_instruction: { parts: { text: 'sys' } },
      contents: { parts: { text: 'hi' } },
      tools: { function_declarations: { name: 'f' } },
    };
    const request = requestOf(body);
    expect(plain(request.messages)).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'sys' }] },
      { role: 'user', content: [{ type: 'text', text: 'hi' }], name: null },
    ]);
    expect(request.tools).toMatchObject([{ name: 'f' }]);
  });

  it('the chunks of a stream, sent back as they came, are one turn', () => {
    const model = (text: string) => ({ role: 'model', parts: [{ text }] });
    const call = (name: string) => ({
      role: 'model',
      parts: [{ functionCall: { name, args: {} } }],
    });
    const messages = messagesOf(...hi.contents, model('he'), model('llo'), call('f'), call('g'), {
      role: 'user',
      parts: ['f', 'g'].map((name) => ({ functionResponse: { name, response: { output: name } } })),
    });
    expect(messages[1]).toMatchObject({
      role: 'assistant',
      content: [{ text: 'hello' }, { id: 'call_3_0' }, { id: 'call_4_0' }],
    });
    expect(messages.slice(2)).toMatchObject([
      { toolCallId: 'call_3_0' },
      { toolCallId: 'call_4_0' },
    ]);
  });

  it('a long body is read the same', () => {
    const long = `é"\\ ${'x'.repeat(5000)}`;
    const request = requestOf({
      contents: [
        {
          role: 'user',
          parts: [
            { text: long },
            { inlineData: { mimeType: 'image/png', data: 'a_-b'.repeat(1000) } },
          ],
        },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: { text: long } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { content: long } } }] },
      ],
    });
    expect(plain(request.messages)).toMatchObject([
      { content: [{ text: long }, { source: { data: 'a/+b'.repeat(1000) } }] },
      { content: [{ arguments: JSON.stringify({ text: long }) }] },
      { content: [{ text: JSON.stringify({ content: long }) }] },
    ]);
  });
});

describe('calls and results', () => {
  const calls = (...ids: readonly (string | null)[]) => ({
    role: 'model',
    parts: ids.map((id, index) => ({
      functionCall: {
        name: index === 1 ? 'g' : 'f',
        args: { index },
        ...(id === null ? {} : { id }),
      },
    })),
  });
  const results = (...given: readonly (readonly [name: string, id?: string])[]) => ({
    role: 'user',
    parts: given.map(([name, id]) => ({
      functionResponse: { name, response: { output: name }, ...(id === undefined ? {} : { id }) },
    })),
  });
  const joined = (...contents: readonly unknown[]) =>
    messagesOf(...hi.contents, ...contents).flatMap((message) =>
      message.role === 'tool' ? [message.toolCallId] : [],
    );

  it('are joined by id, in whatever order they come', () => {
    expect(joined(calls('a', 'b'), results(['x', 'b'], ['y', 'a']))).toEqual(['b', 'a']);
  });

  it('are joined by name, then by order, where there is no id', () => {
    expect(joined(calls(null, null, null), results(['g'], ['f'], ['f']))).toEqual([
      'call_1_1',
      'call_1_0',
      'call_1_2',
    ]);
    expect(joined(calls(null, null), results(['x'], ['y']))).toEqual(['call_1_0', 'call_1_1']);
    expect(joined(calls('a', 'b'), results(['g'], ['f']))).toEqual(['b', 'a']);
  });

  it('keep their numbers as they were spelled', () => {
    const body = `{"contents":[{"parts":[{"text":"hi"}]},
      {"role":"model","parts":[{"function_call":{"name":"f","args":{ "a" : 12345678901234567890, "b":1.0}}}]},
      {"role":"function","parts":[{"function_response":{"name":"f","response":{"result":{"n":1e400}}}}]}]}`;
    expect(plain(requestOf(body).messages)).toMatchObject([
      {},
      { content: [{ arguments: '{"a":12345678901234567890,"b":1.0}' }] },
      { content: [{ text: '{"n":1e400}' }] },
    ]);
  });

  it.each([
    [{ output: 'text' }, 'text', false],
    [{ result: [1] }, '[1]', false],
    [{ error: 'bad' }, 'bad', true],
    [{ output: 'a', more: 1 }, '{"output":"a","more":1}', false],
    [{ temperature: 5 }, '{"temperature":5}', false],
    [{}, '{}', false],
  ])('a result %j is told as %j', (response, text, isError) => {
    const [, , result] = messagesOf(...hi.contents, calls('a'), {
      role: 'user',
      parts: [{ functionResponse: { name: 'f', id: 'a', response } }],
    });
    expect(result).toMatchObject({ content: [{ text }], isError });
  });

  it('a result brings its media along, and stands before what the user says with it', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const parts = [
      { text: 'see' },
      { functionResponse: { name: 'f', response: { output: 'x' }, parts: [image] } },
    ];
    const messages = messagesOf(...hi.contents, calls(null), { role: 'user', parts });
    expect(messages.slice(2)).toMatchObject([
      { role: 'tool', content: [{ text: 'x' }, { type: 'image' }] },
      { role: 'user', content: [{ text: 'see' }] },
    ]);
  });

  it.each([
    [[calls('a')], 'contents[1].parts[0].functionCall'],
    [[calls('a', 'b'), results(['f', 'a']), calls('c')], 'contents[1].parts[1].functionCall'],
    [[results(['f'])], 'contents[1].parts[0].functionResponse'],
    [[calls('a'), results(['f', 'a'], ['f', 'a'])], 'contents[2].parts[1].functionResponse'],
    [[{ role: 'user', parts: calls('a').parts }], 'contents[1].parts[0].functionCall'],
    [[{ role: 'model', parts: results(['f']).parts }], 'contents[1].parts[0].functionResponse'],
  ])('that do not fit are refused (%#)', (contents, param) => {
    expect(faultOf({ contents: [...hi.contents, ...contents] }).param).toBe(param);
  });

  it('are thousands in one turn', () => {
    const many = 5000;
    const names = Array.from({ length: many }, (_, index) => `f${index}`);
    const contents = [
      ...hi.contents,
      { role: 'model', parts: names.map((name) => ({ functionCall: { name } })) },
      {
        role: 'user',
        parts: names.toReversed().map((name) => ({ functionResponse: { name, response: {} } })),
      },
    ];
    expect(requestOf({ contents }).messages).toHaveLength(many + 2);
  });
});

describe('media', () => {
  const read = (part: object) => {
    const { messages, providerTools } = requestOf({ contents: [{ role: 'user', parts: [part] }] });
    const [message] = plain(messages) as readonly Message[];
    return { part: message?.content[0] ?? null, bound: providerTools.map(({ kind }) => kind) };
  };

  it.each([
    [{ inlineData: { mimeType: 'image/png', data: 'AA' } }, { type: 'image', detail: null }],
    [{ inline_data: { mime_type: 'image/png', data: 'AA' } }, { type: 'image' }],
    [
      { inlineData: { mimeType: 'application/pdf', data: 'AA', displayName: 'a.pdf' } },
      { type: 'document', filename: 'a.pdf' },
    ],
    [
      { inlineData: { mimeType: 'audio/mpeg', data: 'AA' } },
      { type: 'audio', format: 'mp3', data: 'AA' },
    ],
    [
      { fileData: { fileUri: 'https://example.com/a.png' } },
      { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
    ],
    [
      { file_data: { file_uri: 'gs://b/a', mime_type: 'application/pdf' } },
      { type: 'document', source: { kind: 'file', fileId: 'gs://b/a', dialect: 'gemini' } },
    ],
    [
      {
        inlineData: { mimeType: 'image/png', data: 'AA' },
        mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
      },
      { type: 'image', detail: 'low' },
    ],
  ])('%j', (given, part) => {
    expect(read(given)).toMatchObject({ part, bound: [] });
  });

  it.each([
    [{ inlineData: { mimeType: 'video/mp4', data: 'AA' } }, 'content:inlineData'],
    [{ fileData: { fileUri: 'https://www.youtube.com/watch?v=x' } }, 'content:fileData'],
    [{ executableCode: { language: 'PYTHON', code: '1' } }, 'content:executableCode'],
    [{ brandNew: 1 }, 'content:brandNew'],
  ])('%j is for this dialect alone', (given, kind) => {
    expect(read(given)).toEqual({ part: null, bound: [kind] });
  });

  it.each([
    [{ text: 'x', inlineData: { mimeType: 'image/png', data: 'AAAA' } }, 'inlineData'],
    [{ inline_data: { mime_type: 'image/png', data: 'AAAA' }, text: 'x' }, 'text'],
    [{ functionCall: { name: 'f', args: {} }, text: 'x' }, 'text'],
  ])('two contents in one part are a fault, as one would be lost: %j', (part, name) => {
    const role = 'functionCall' in part ? 'model' : 'user';
    expect(faultOf({ contents: [{ role, parts: [part] }] }).param).toBe(
      `contents[0].parts[0].${name}`,
    );
  });

  it('what stands beside the content of a part and is not known is named', () => {
    const part = { text: 'x', thought_signature: 'AAAA', part_metadata: {}, glow: { hue: 3 } };
    expect(requestOf({ contents: [{ parts: [part] }] }).otherFields).toEqual(['glow']);
  });

  it.each([
    [{ contents: [{ role: 'user', text: 'hi' }] }, 'contents[0].parts'],
    [{ ...hi, systemInstruction: { text: 'be brief' } }, 'systemInstruction.parts'],
    [{ ...hi, system_instruction: { content: 'be brief' } }, 'system_instruction.parts'],
  ])('a content without its parts is a fault, as it would be lost: %j', (body, param) => {
    expect(faultOf(body).param).toBe(param);
  });

  it('a content of nothing is one: answers without parts come back so', () => {
    expect(requestOf({ contents: [...hi.contents, { role: 'model' }] }).messages).toHaveLength(1);
  });

  it('a part that says nothing is passed over', () => {
    expect(read({ thoughtSignature: 'x' })).toEqual({ part: null, bound: [] });
  });
});
