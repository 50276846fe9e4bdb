import { describe, expect, it } from 'vitest';
import type { ChatRequest, Message } from '../../../../src/chat/request.ts';
import type { RequestFault } from '../../../../src/dialects/dialect.ts';
import { geminiClient } from '../../../../src/dialects/gemini/client.ts';

const hi = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

function decode(body: unknown, call = 'fast:generateContent', alt?: string) {
  const form = geminiClient.pathCalls?.dialectFor(call, (name) =>
    name === 'alt' ? alt : undefined,
  );
  if (form === null || form === undefined) throw new Error('no call');
  return form.decodeRequest(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
}

function requestOf(body: unknown, call?: string): ChatRequest {
  const decoded = decode(body, call);
  if (!decoded.ok) throw new Error(`${decoded.fault.param}: ${decoded.fault.message}`);
  return decoded.value.request;
}

function faultOf(body: unknown): RequestFault {
  const decoded = decode(body);
  if (decoded.ok) throw new Error('decoded');
  return decoded.fault;
}

/** Plain values, every text that was put off read. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function messagesOf(...contents: readonly unknown[]): readonly Message[] {
  return plain(requestOf({ contents }).messages) as readonly Message[];
}

describe('the path', () => {
  it.each([
    ['fast:generateContent', 'fast', false],
    ['fast:streamGenerateContent', 'fast', true],
    ['models/fast:generateContent', 'fast', false],
    ['gemini-2.5-flash-001:generateContent', 'gemini-2.5-flash-001', false],
  ])('%s names the model and whether to stream', (call, model, isStream) => {
    expect(requestOf({ ...hi, model: 'models/other' }, call)).toMatchObject({ model, isStream });
  });

  it.each([
    'fast',
    'fast:countTokens',
    ':generateContent',
    'a/b:generateContent',
    'fast:generatecontent',
  ])('%s is no call', (call) => {
    expect(geminiClient.pathCalls?.dialectFor(call, () => undefined)).toBeNull();
  });

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

  it('a part that says nothing is passed over', () => {
    expect(read({ thoughtSignature: 'x' })).toEqual({ part: null, bound: [] });
  });
});

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
