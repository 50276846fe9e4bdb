/** Conversations as input items. */
import { describe, expect, it } from 'vitest';
import type { ReasoningPart } from '../../../../src/chat/request.ts';
import { openaiResponsesUpstream as dialect } from '../../../../src/dialects/openai-responses/upstream.ts';
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

const model = 'gpt-5-mini';

function itemsOf(...messages: readonly Json[]): readonly Json[] {
  return sent(dialect, callOf({ messages }, { model })).body['input'] as readonly Json[];
}

const pixel = 'data:image/png;base64,iVBORw0KGgo=';

describe('calls and their results', () => {
  it('are joined by call_id, the results behind the turn in the order of its calls', () => {
    expect(
      itemsOf(
        user('q'),
        { ...calls(toolCall('a', 'f', '{"n": 1.0}'), toolCall('b', 'g', '')), content: 'I look.' },
        user('by the way'),
        result('b', '2'),
        result('a', '1'),
      ).slice(1),
    ).toEqual([
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
      },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"n": 1.0}' },
      { type: 'function_call', call_id: 'b', name: 'g', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: '1' },
      { type: 'function_call_output', call_id: 'b', output: '2' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'by the way' }] },
    ]);
  });

  it('TR-04 without each other are refused, naming the id', () => {
    const whole = callOf({
      messages: [user('q'), calls(toolCall('a', 'f', '{}')), result('a', '1')],
    });
    const without = (role: string) => {
      const messages = whole.request.messages.filter((message) => message.role !== role);
      return faultOf(dialect, { ...whole, request: { ...whole.request, messages } });
    };
    expect(without('tool')).toMatchObject({ param: 'messages[1]' });
    expect(without('tool').message).toContain('"a"');
    expect(without('assistant').message).toContain('"a"');
  });

  it('TR-03 have ids that are taken once, and never what another vendor signed', () => {
    const long = 'x'.repeat(90);
    const ids = itemsOf(
      user('q'),
      calls(toolCall(long, 'f', '{}'), toolCall('tgs_abc', 'f', '{}')),
      result(long, '1'),
      result('tgs_abc', '2'),
      calls(toolCall(long, 'f', '{}')),
      result(long, '3'),
    )
      .slice(1)
      .map((item) => String(item['call_id']));
    expect(ids.every((id) => /^call_[\w-]{24}$/.test(id))).toBe(true);
    expect(ids[0]).toBe(ids[2]);
    expect(ids[1]).toBe(ids[3]);
    expect(ids[4]).toBe(ids[5]);
    expect(new Set(ids).size).toBe(3);
  });

  it('keep arguments as they are written, whatever they hold', () => {
    const text = '{"id": 12345678901234567890, "broken": ';
    const [, call] = itemsOf(user('q'), calls(toolCall('a', 'f', text)), result('a', '1'));
    expect(call?.['arguments']).toBe(text);
  });
});

describe('results', () => {
  const resultOf = (content: readonly Json[], isError = false): unknown => {
    const call = callOf({
      messages: [user('q'), calls(toolCall('a', 'f', '{}')), result('a', '')],
    });
    const messages = call.request.messages.map((message) =>
      message.role === 'tool' ? { ...message, content, isError } : message,
    );
    const request = { ...call.request, messages } as typeof call.request;
    const input = sent(dialect, { ...call, request }).body['input'] as readonly Json[];
    return input[2]?.['output'];
  };
  const image = {
    type: 'image',
    source: { kind: 'url', url: 'https://x.test/a.png' },
    detail: null,
  };

  it('are text, or parts where they hold more, and say when they failed', () => {
    const text = { type: 'text', text: 'sunny' };
    expect(resultOf([text])).toBe('sunny');
    expect(resultOf([text], true)).toBe('Error: sunny');
    expect(resultOf([])).toBe('');
    expect(resultOf([text, image])).toEqual([
      { type: 'input_text', text: 'sunny' },
      { type: 'input_image', image_url: 'https://x.test/a.png' },
    ]);
    expect(resultOf([image], true)).toEqual([
      { type: 'input_text', text: 'Error:' },
      { type: 'input_image', image_url: 'https://x.test/a.png' },
    ]);
  });
});

describe('what a user says', () => {
  it.each<readonly [string, unknown, readonly Json[]]>([
    ['nothing', '', [{ type: 'input_text', text: '' }]],
    [
      'an image',
      [
        { type: 'text', text: '' },
        { type: 'image_url', image_url: { url: pixel, detail: 'low' } },
      ],
      [{ type: 'input_image', image_url: pixel, detail: 'low' }],
    ],
    [
      'a PDF',
      [
        {
          type: 'file',
          file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
        },
      ],
      [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' }],
    ],
    [
      'a text file, which goes as text',
      [{ type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' } }],
      [{ type: 'input_text', text: 'a.txt:\nhi' }],
    ],
    [
      'sound',
      [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }],
      [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }],
    ],
  ])('%s', (_name, content, expected) => {
    expect(itemsOf(user(content))).toEqual([{ type: 'message', role: 'user', content: expected }]);
  });
});

describe('what the model said', () => {
  it('is one message a turn, its refusal included, and nothing where it said nothing', () => {
    expect(
      itemsOf(
        user('q'),
        { role: 'assistant', content: 'So:', refusal: 'No.' },
        user('r'),
        { role: 'assistant', content: '' },
        user('s'),
      ).map((item) => [item['role'], (item['content'] as readonly Json[]).length]),
    ).toEqual([
      ['user', 1],
      ['assistant', 2],
      ['user', 1],
      ['user', 1],
    ]);
  });

  const thought = (over: Partial<ReasoningPart> = {}): ReasoningPart => ({
    type: 'reasoning',
    text: 'hm',
    signature: 'gAAAA',
    redacted: null,
    dialect: 'openai-responses',
    ...over,
  });

  function said(part: ReasoningPart, usualModel: string | null = null, isLast = false) {
    const call = callOf({ messages: [user('q'), { role: 'assistant', content: 'a' }, user('r')] });
    const messages = call.request.messages.map((message) => {
      if (message.role !== 'assistant') return message;
      const { content } = message;
      return { ...message, content: isLast ? [...content, part] : [part, ...content] };
    });
    const encoded = sent(dialect, {
      ...call,
      model: 'gpt-5-mini-2025-08-07',
      usualModel,
      request: { ...call.request, messages },
    });
    const items = encoded.body['input'] as readonly Json[];
    return [items.filter(({ type }) => type === 'reasoning').length, encoded.dropped];
  }

  it('R71 of its own reasoning stands before what followed it, for the model that made it', () => {
    expect(said(thought())).toEqual([1, []]);
    expect(said(thought({ model: 'gpt-5-mini' }))).toEqual([1, []]);
    expect(said(thought(), 'openai/gpt-5-mini')).toEqual([1, []]);
    expect(said(thought({ model: 'o3' }))).toEqual([0, ['reasoning']]);
    expect(said(thought(), 'o3')).toEqual([0, ['reasoning']]);
    expect(said(thought({ dialect: 'gemini' }))).toEqual([0, ['reasoning']]);
    expect(said(thought({ signature: null }))).toEqual([0, ['reasoning']]);
    // Alone at the end of its turn it would be refused.
    expect(said(thought(), null, true)[0]).toBe(0);
  });
});
