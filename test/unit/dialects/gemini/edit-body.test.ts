import { describe, expect, it } from 'vitest';
import type { UpstreamCall } from '../../../../src/dialects/dialect.ts';
import { geminiClient } from '../../../../src/dialects/gemini/client.ts';
import { dummySignature } from '../../../../src/dialects/gemini/encode-messages.ts';
import { geminiUpstream as dialect } from '../../../../src/dialects/gemini/upstream.ts';
import { owning, sent } from '../upstream-calls.ts';

function callOf(body: string | object, overrides: Partial<UpstreamCall> = {}): UpstreamCall {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const decoded = geminiClient.decodeRequest(bytes);
  if (!decoded.ok) throw new Error(`${decoded.fault.param}: ${decoded.fault.message}`);
  const { request } = decoded.value;
  return {
    request,
    model: 'gemini-2.5-flash',
    isStream: false,
    system: null,
    parameters: request.parameters,
    ownedParameters: [],
    extraFields: {},
    toolDescriptions: {},
    maxOutputTokens: null,
    isReasoningModel: false,
    ...overrides,
  };
}

const hi = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

describe('a body of this dialect', () => {
  const odd =
    '{ "contents" : [ {"parts":[{"text":"h\\u0069","new":1.0}]} ],\n "brandNew":{"n":12345678901234567890},\t"safety_settings":[] }';

  it('leaves byte by byte, fields that nobody here has heard of included', () => {
    expect(sent(dialect, callOf(odd)).text).toBe(odd);
  });

  it('loses the model, our extension, and a field’s earlier copies', () => {
    const body = odd.replace(
      '{ "contents"',
      '{ "tiergate":{"pin":"x"}, "model":"models/fast","contents"',
    );
    expect(sent(dialect, callOf(body)).text).toBe(`{ ${odd.slice(2)}`);
  });

  it('takes the variant around the client’s own system parts', () => {
    const system = { before: 'first', after: 'last' };
    const edited = (body: object | string) => sent(dialect, callOf(body, { system })).text;
    const own = '{"parts":[{"text":"mine","x":1.0}],"role":"user"}';
    const contents = JSON.stringify(hi.contents);
    expect(edited(`{"system_instruction":${own},"contents":${contents}}`)).toBe(
      `{"system_instruction":{"parts":[{"text":"first"},{"text":"mine","x":1.0},{"text":"last"}],"role":"user"},"contents":${contents}}`,
    );
    expect(
      edited(`{"systemInstruction":{"parts":{"text":"mine"}},"contents":${contents}}`),
    ).toContain('{"parts":[{"text":"first"},{"text":"mine"},{"text":"last"}]}');
    expect(edited(`{"systemInstruction":"mine","contents":${contents}}`)).toContain(
      '{"parts":[{"text":"first"},{"text":"mine"},{"text":"last"}]}',
    );
    expect(edited(hi)).toContain(
      '"systemInstruction":{"parts":[{"text":"first"},{"text":"last"}]}',
    );
  });

  it('takes descriptions of functions', () => {
    const tools = [{ functionDeclarations: [{ name: 'f' }, { name: 'g', description: 'old' }] }];
    const toolDescriptions = { f: 'F', g: 'G' };
    expect(sent(dialect, callOf({ ...hi, tools }, { toolDescriptions })).body['tools']).toEqual([
      {
        functionDeclarations: [
          { name: 'f', description: 'F' },
          { name: 'g', description: 'G' },
        ],
      },
    ]);
  });

  it('takes the fields of the target, merged with the client’s objects', () => {
    const extraFields = {
      generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW', topK: 3 },
      safetySettings: [{ category: 'X' }],
      toolConfig: { retrievalConfig: {} },
      contents: 'never',
      model: 'never',
    };
    const body = {
      ...hi,
      generation_config: { top_k: 9, seed: 1 },
      tool_config: { functionCallingConfig: {} },
    };
    expect(sent(dialect, callOf(body, { extraFields })).body).toEqual({
      ...hi,
      generation_config: { seed: 1, mediaResolution: 'MEDIA_RESOLUTION_LOW', topK: 3 },
      tool_config: { functionCallingConfig: {}, retrievalConfig: {} },
      safetySettings: [{ category: 'X' }],
    });
  });
});

describe('parameters that the gateway owns', () => {
  it('replace the client’s, under one spelling', () => {
    const generationConfig = {
      temperature: 1.0,
      max_output_tokens: 5,
      responseSchema: { type: 'STRING' },
      responseMimeType: 'application/json',
    };
    const call = owning(callOf({ ...hi, generationConfig }), {
      max_tokens: 9,
      response_format: { type: 'json_object' },
      logprobs: true,
      top_logprobs: 2,
      temperature: null,
    });
    const { at, dropped } = sent(dialect, call);
    expect(at('generationConfig')).toEqual({
      responseMimeType: 'application/json',
      maxOutputTokens: 9,
      responseLogprobs: true,
      logprobs: 2,
    });
    expect(dropped).toEqual([]);
  });

  it('an effort takes the place of both ways to say it; what is shown is the client’s to say', () => {
    const edited = (thinkingConfig: object) =>
      sent(
        dialect,
        owning(callOf({ ...hi, generationConfig: { thinkingConfig } }), {
          reasoning_effort: 'low',
        }),
      ).at('generationConfig.thinkingConfig');
    expect(edited({ thinkingBudget: 9, includeThoughts: true })).toEqual({
      includeThoughts: true,
      thinkingBudget: 4096,
    });
    expect(edited({})).toEqual({ thinkingBudget: 4096 });
  });

  it('a level is put as a budget to a model that knows no levels', () => {
    const body = { ...hi, generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' }, seed: 1 } };
    expect(sent(dialect, callOf(body)).at('generationConfig')).toEqual({
      thinkingConfig: { thinkingBudget: 4096 },
      seed: 1,
    });
    const kept = sent(dialect, callOf(body, { model: 'gemini-3-pro-preview' }));
    expect(kept.at('generationConfig')).toEqual(body.generationConfig);
  });
});

describe('signatures of thoughts', () => {
  const call = (signature?: string, name = 'f') => ({
    functionCall: { name, args: {} },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  });
  const step = (...parts: readonly object[]) => [
    { role: 'model', parts },
    {
      role: 'user',
      parts: parts
        .filter((part) => 'functionCall' in part)
        .map(() => ({ functionResponse: { name: 'f', response: {} } })),
    },
  ];
  const signatures = (contents: readonly object[], overrides: Partial<UpstreamCall>) => {
    const { body } = sent(dialect, callOf({ contents: [...hi.contents, ...contents] }, overrides));
    const given = body['contents'] as { parts: { thoughtSignature?: string }[] }[];
    return given.flatMap(({ parts }) => parts.map((part) => part.thoughtSignature ?? null));
  };
  const none = null;

  it('are made up for a history from elsewhere, on the first call of each step', () => {
    const contents = [...step(call(), call()), ...step({ text: 'x' }, call())];
    expect(signatures(contents, { model: 'gemini-3-pro-preview' })).toEqual([
      none,
      dummySignature,
      none,
      none,
      none,
      none,
      dummySignature,
      none,
    ]);
    expect(signatures(contents, { model: 'gemini-2.5-flash' }).every((each) => each === none)).toBe(
      true,
    );
  });

  it('stay where they are, in either spelling, for the model that made them', () => {
    const body = `{"contents":[{"parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f"},"thought_signature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`;
    for (const model of ['gemini-3-pro-preview', 'gemini-2.5-flash']) {
      const asked = callOf(body, { model, usualModel: model });
      expect(sent(dialect, asked).text).toBe(body);
    }
  });

  it('do not go to another family of models', () => {
    const contents = step({ text: 'x', thoughtSignature: 'a' }, call('b'), call('c'));
    const usualModel = 'gemini-2.5-flash';
    expect(signatures(contents, { model: 'gemini-3-pro-preview', usualModel })).toEqual([
      none,
      none,
      dummySignature,
      none,
      none,
      none,
    ]);
    const back = signatures(contents, { model: usualModel, usualModel: 'gemini-3-pro-preview' });
    expect(back.every((each) => each === none)).toBe(true);
    expect(signatures(contents, { model: 'gemini-2.5-flash-001', usualModel })).toContain('b');
  });

  it('on empty text is kept; empty text alone, which streams end with, goes', () => {
    const contents = [
      { role: 'model', parts: [{ text: 'he' }] },
      { role: 'model', parts: [{ text: '' }] },
      { role: 'user', parts: [{ text: 'go on' }] },
      { role: 'model', parts: [{ text: 'a' }, { text: '' }, { text: '', thoughtSignature: 's' }] },
    ];
    const { body } = sent(dialect, callOf({ contents: [...hi.contents, ...contents] }));
    expect(body['contents']).toEqual([
      ...hi.contents,
      { role: 'model', parts: [{ text: 'he' }] },
      { role: 'user', parts: [{ text: 'go on' }] },
      { role: 'model', parts: [{ text: 'a' }, { text: '', thoughtSignature: 's' }] },
    ]);
  });
});

it('turns that the gateway adds come after the client’s own', () => {
  const add = (body: object) => {
    const call = callOf(body);
    const messages = [
      ...call.request.messages,
      { role: 'assistant', content: [{ type: 'text', text: 'so far' }] } as const,
      { role: 'user', content: [{ type: 'text', text: 'go on' }], name: null } as const,
    ];
    return sent(dialect, { ...call, request: { ...call.request, messages } }).body['contents'];
  };
  const added = [
    { role: 'model', parts: [{ text: 'so far' }] },
    { role: 'user', parts: [{ text: 'go on' }] },
  ];
  expect(add(hi)).toEqual([...hi.contents, ...added]);
  expect(add({ contents: hi.contents[0] })).toEqual([...hi.contents, ...added]);
});

describe('a thinking budget that the model would refuse', () => {
  const sentThinking = (thinkingBudget: unknown, model: string) => {
    const generationConfig = { thinkingConfig: { includeThoughts: true, thinkingBudget } };
    const { at, dropped } = sent(dialect, { ...callOf({ ...hi, generationConfig }), model });
    return [at('generationConfig.thinkingConfig'), dropped];
  };

  it.each([
    [0, 'gemini-2.5-pro', { thinkingBudget: 128 }],
    [32_768, 'gemini-2.5-flash', { thinkingBudget: 24_576 }],
    [100, 'gemini-2.5-flash-lite', { thinkingBudget: 512 }],
    [0, 'gemini-3-pro-preview', { thinkingLevel: 'LOW' }],
    ['0', 'gemini-3.5-flash', { thinkingLevel: 'MINIMAL' }],
  ])('%s of %s is the nearest that it takes, and named', (budget, model, told) => {
    const expected = { includeThoughts: true, ...told };
    expect(sentThinking(budget, model)).toEqual([expected, ['reasoning_effort']]);
  });

  it.each([
    [0, 'gemini-2.5-flash-lite'],
    [-1, 'gemini-2.5-pro'],
    [2000, 'gemini-2.5-pro'],
    [2000, 'gemini-3.5-flash'],
    [0, 'a-tuned-model'],
  ])('another stays: %s of %s', (thinkingBudget, model) => {
    expect(sentThinking(thinkingBudget, model)).toEqual([
      { includeThoughts: true, thinkingBudget },
      [],
    ]);
  });
});

it('a format beside functions is asked for in words where the model takes one of the two', () => {
  const tools = [{ functionDeclarations: [{ name: 'f' }] }];
  const system_instruction = { parts: [{ text: 'mine' }] };
  const asked = (generation_config: object, model: string) => {
    const body = { ...hi, tools, system_instruction, generation_config };
    return sent(dialect, { ...callOf(body), model });
  };
  const json = { response_mime_type: 'application/json', temperature: 1 };
  const told = asked(json, 'gemini-2.5-pro');
  expect(told.body['generation_config']).toEqual({ temperature: 1 });
  expect(told.at('system_instruction.parts.0')).toEqual({ text: 'mine' });
  expect(told.at('system_instruction.parts.1.text')).toMatch(/JSON object/);
  expect(told.dropped).toEqual(['response_format']);
  for (const mime of ['text/plain', 'text/x.enum']) {
    const kept = { response_mime_type: mime };
    expect(asked(kept, 'gemini-2.5-pro').body['generation_config']).toEqual(kept);
  }
  expect(asked(json, 'gemini-3.5-flash').body['generation_config']).toEqual(json);
});
