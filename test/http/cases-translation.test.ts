/** What each vendor is sent and what the client gets back: the cases of translation, end to end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { CaseGateway, hello } from '../support/case-gateway.ts';
import type { StreamRead } from '../support/running-gateway.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

const tools = (...names: readonly string[]): JsonObject => ({
  tools: names.map((name) => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: {} } },
  })),
});

type Call = { id: string; name: string; args: string };

/** The tool calls of a stream, put together by index as a client does. */
function callsOf(stream: StreamRead): readonly Call[] {
  const calls: Call[] = [];
  for (const event of stream.events) {
    for (const delta of event.choices?.[0]?.delta?.tool_calls ?? []) {
      const known = calls[delta.index] ?? { id: '', name: '', args: '' };
      calls[delta.index] = {
        id: known.id || (delta.id ?? ''),
        name: known.name || (delta.function?.name ?? ''),
        args: known.args + (delta.function?.arguments ?? ''),
      };
    }
  }
  return calls;
}

const call = (id: string, name = 'f', args = '{}'): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

describe('tool calls', () => {
  it('TR-01 parallel calls of one index get indices and ids of their own', async () => {
    const tier = await cases.tier(['p3'], {
      p3: [
        {
          sse: ['TOOL:0::w:{"c":"A"}', 'TOOL:0::w:{"c":"B"}', 'TOOL:0::w:{"c":"C"}', 'FIN:STOP'],
        },
      ],
    });
    const { stream } = await cases.stream(tier, tools('w'));
    const calls = callsOf(stream);
    expect(calls.map(({ args }) => JSON.parse(args))).toEqual([{ c: 'A' }, { c: 'B' }, { c: 'C' }]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    expect(calls.every(({ id }) => id !== '')).toBe(true);
    expect(stream.finishReasons).toEqual(['tool_calls']);
  });

  it('TR-02 calls are told apart by their id when their index lies or is missing', async () => {
    const tier = await cases.tier(['p1'], {
      p1: [
        {
          sse: [
            'ROLE',
            'TOOL:0:call_a:f:{"x":',
            'TOOL:0:call_b:g:{"y":',
            'TOOL:0:call_a::1}',
            'TOOL:0:call_b::2}',
            'FIN:tool_calls',
            'DONE',
          ],
        },
        { sse: ['ROLE', 'TOOL::call_a:f:{}', 'TOOL::call_b:g:{}', 'FIN:tool_calls', 'DONE'] },
      ],
    });
    const first = callsOf((await cases.stream(tier, tools('f', 'g'))).stream);
    expect(first).toEqual([
      { id: 'call_a', name: 'f', args: '{"x":1}' },
      { id: 'call_b', name: 'g', args: '{"y":2}' },
    ]);
    const second = callsOf((await cases.stream(tier, tools('f', 'g'))).stream);
    expect(second.map(({ id, name }) => `${id} ${name}`)).toEqual(['call_a f', 'call_b g']);
  });

  it('TR-03 ids that a vendor refuses are mapped, apart and always alike', async () => {
    const tier = await cases.tier(['p2'], { p2: hello.anthropic });
    const messages = [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('functions.Bash:0', 'Bash'), call('functions_Bash_0', 'Bash')],
      },
      { role: 'tool', tool_call_id: 'functions.Bash:0', content: '1' },
      { role: 'tool', tool_call_id: 'functions_Bash_0', content: '2' },
    ];
    await cases.stream(tier, { messages });
    await cases.stream(tier, { messages });
    const [first, second] = cases.bodies('p2');
    const used = first.messages[1].content.map((block: { id: string }) => block.id);
    const answered = first.messages[2].content.map(
      (block: { tool_use_id: string }) => block.tool_use_id,
    );
    expect(answered).toEqual(used);
    expect(new Set(used).size).toBe(2);
    for (const id of used) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(used).toContain('functions_Bash_0');
    expect(second.messages).toEqual(first.messages);
  });

  it('TR-04 results come first in the turn after their calls; a missing one is named', async () => {
    const tier = await cases.tier(['p2'], { p2: hello.anthropic });
    const opening = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'user', content: 'by the way' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
    ];
    await cases.stream(tier, {
      messages: [...opening, { role: 'tool', tool_call_id: 'a', content: '1' }],
    });
    const [{ messages }] = cases.bodies('p2');
    expect(messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    const types = messages[2].content.map(({ type }: { type: string }) => type);
    expect(types).toEqual(['tool_result', 'tool_result', 'text']);
    const refused = await cases.post(tier, { messages: opening });
    expect(refused.status).toBe(400);
    expect(((await refused.json()) as { error: { message: string } }).error.message).toMatch(
      /\ba\b/,
    );
    expect(cases.calls('p2')).toBe(1);
  });

  it('TR-16 calls under STOP finish with tool_calls', async () => {
    const tier = await cases.tier(['p3'], { p3: [{ sse: ['TOOL:0::f:{}', 'FIN:STOP'] }] });
    const { stream } = await cases.stream(tier, tools('f'));
    expect(stream.finishReasons).toEqual(['tool_calls']);
  });

  it('TR-19 a call without arguments has {} , in the answer and in the history', async () => {
    const tier = await cases.tier(['p2'], {
      p2: [{ sse: ['ROLE', 'TOOL:0:tu_1:now:', 'FIN:tool_use', 'DONE'] }, ...hello.anthropic],
    });
    const { stream } = await cases.stream(tier, tools('now'));
    expect(callsOf(stream)).toEqual([{ id: 'tu_1', name: 'now', args: '{}' }]);
    await cases.stream(tier, {
      ...tools('now'),
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: null, tool_calls: [call('tu_1', 'now', '')] },
        { role: 'tool', tool_call_id: 'tu_1', content: 'noon' },
      ],
    });
    expect(cases.bodies('p2')[1].messages[1].content).toEqual([
      { type: 'tool_use', id: 'tu_1', name: 'now', input: {} },
    ]);
  });

  it('TR-11 TR-12 a call made elsewhere or long ago is sent back in a form that is accepted', async () => {
    const tier = await cases.tier(['p3', 'p1'], {
      p3: [{ sse: ['TOOL:0::f:{}', 'FIN:STOP'] }, ...hello.gemini],
      p1: hello.openai,
    });
    const { stream } = await cases.stream(tier, tools('f'));
    const [made] = callsOf(stream);
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: null, tool_calls: [call(made?.id ?? '', 'f')] },
      { role: 'tool', tool_call_id: made?.id ?? '', content: '1' },
    ];
    await cases.stream(tier, { ...tools('f'), messages });
    const parts = cases
      .bodies('p3')[1]
      .contents.flatMap((content: { parts: JsonObject[] }) => content.parts);
    const called = parts.find((part: JsonObject) => part['functionCall'] !== undefined);
    expect(called['thoughtSignature']).toBe('sig-1');
    cases.control.script('p3', [{ status: 401 }]);
    await cases.stream(tier, { ...tools('f'), messages });
    const sent = JSON.stringify(cases.bodies('p1'));
    for (const secret of ['ignature', 'sig-1', made?.id ?? '']) expect(sent).not.toContain(secret);
  });

  it('TR-12 a gateway that never saw the call sends it back as signed as it was', async () => {
    const tier = await cases.tier(['p3'], { p3: [{ sse: ['TOOL:0::f:{}', 'FIN:STOP'] }] });
    const [made] = callsOf((await cases.stream(tier, tools('f'))).stream);
    const restarted = await CaseGateway.start();
    try {
      let after = '';
      // Every tier has a model of its own, and a signature is its model's.
      while (restarted.modelOf('p3') !== cases.modelOf('p3')) {
        after = await restarted.tier(['p3'], { p3: hello.gemini });
      }
      const { row } = await restarted.stream(after, {
        ...tools('f'),
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: null, tool_calls: [call(made?.id ?? '', 'f')] },
          { role: 'tool', tool_call_id: made?.id ?? '', content: '1' },
        ],
      });
      expect(row['outcome']).toBe('served');
      expect(JSON.stringify(restarted.bodies('p3')[0])).toContain('"thoughtSignature":"sig-1"');
    } finally {
      await restarted.close();
    }
  });
});
