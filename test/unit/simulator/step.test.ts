/** The step language, read. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../../../src/simulator/script/scripted-call.ts';
import { parseSteps, type Step, unrolled } from '../../../src/simulator/script/step.ts';

function stepsOf(items: unknown): readonly Step[] {
  const parsed = parseSteps(items);
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.value;
}

describe('the step language', () => {
  it.each<readonly [string, Step]>([
    ['ROLE', { kind: 'open' }],
    ['T:a:b', { kind: 'text', text: 'a:b' }],
    ['T:', { kind: 'text', text: '' }],
    ['THINK:hm', { kind: 'think', text: 'hm' }],
    ['FIN:stop', { kind: 'finish', reason: 'stop' }],
    ['USAGE:3:2', { kind: 'usage', input: 3, output: 2 }],
    ['DONE', { kind: 'done' }],
    ['PING', { kind: 'ping' }],
    ['C: ping', { kind: 'comment', text: ' ping' }],
    ['RAWB:00 ff 7B', { kind: 'raw', bytes: Buffer.from([0, 255, 123]) }],
    ['SLEEP:100', { kind: 'sleep', ms: 100 }],
    ['HANG', { kind: 'hang' }],
    ['END', { kind: 'end' }],
    ['CUT', { kind: 'cut' }],
    ['RST', { kind: 'reset' }],
  ])('reads %s', (text, step) => {
    expect(stepsOf([text])).toEqual([step]);
  });

  it.each([
    ['TOOL:0:call_a:f:{"x":1}', { index: 0, id: 'call_a', name: 'f', arguments: '{"x":1}' }],
    ['TOOL:0::w:{"c":"A"}', { index: 0, id: null, name: 'w', arguments: '{"c":"A"}' }],
    ['TOOL::call_a:f:{}', { index: null, id: 'call_a', name: 'f', arguments: '{}' }],
    ['TOOL:0:call_a::1}', { index: 0, id: 'call_a', name: null, arguments: '1}' }],
    ['TOOL:0:tu_1:now:', { index: 0, id: 'tu_1', name: 'now', arguments: null }],
  ])('reads %s, its empty parts left out', (text, delta) => {
    expect(stepsOf([text])).toEqual([{ kind: 'tool', delta }]);
  });

  it('reads the escapes of RAW and leaves other backslashes alone', () => {
    const text = String.raw`RAW:a\nb\rc\td\"e\\f\u00e9\ud83c\udf0d\x`;
    expect(stepsOf([text])).toEqual([{ kind: 'raw', bytes: 'a\nb\rc\td"e\\f\u00e9\u{1f30d}\\x' }]);
  });

  it('unrolls REP and nested repetitions in order', () => {
    const steps = stepsOf(['REP:2:T:a', { repeat: 2, steps: ['T:b', 'REP:2:REP:1:PING'] }]);
    expect(
      [...unrolled(steps)].map((step) => (step.kind === 'text' ? step.text : step.kind)),
    ).toEqual(['a', 'a', 'b', 'ping', 'ping', 'b', 'ping', 'ping']);
  });

  it.each([
    [['WAIT'], 'sse[0]: unknown step "WAIT"'],
    [['ROLE', 'SLEEP:soon'], 'sse[1]: SLEEP wants milliseconds'],
    [['USAGE:1'], 'USAGE:in:out'],
    [['TOOL:0:a'], 'TOOL:index:id:name:args'],
    [['TOOL:x:a:f:{}'], 'whole number as index'],
    [['RAWB:abc'], 'pairs of hex digits'],
    [['REP:x:T:a'], 'REP:n:step'],
    [[{ repeat: -1, steps: [] }], 'sse[0].repeat'],
    [[{ repeat: 2, steps: ['NO'] }], 'sse[0].steps[0]: unknown step'],
    [[{ repeat: 10_000_000, steps: ['PING', 'PING'] }], 'at most 10000000'],
    ['ROLE', 'expected a list'],
  ])('says what is wrong with %j', (items, words) => {
    const parsed = parseSteps(items);
    expect(parsed.ok ? '' : parsed.fault).toContain(words);
  });

  it('bounds nesting', () => {
    let items: unknown = ['PING'];
    for (let depth = 0; depth < 40; depth += 1) items = [{ repeat: 1, steps: items }];
    expect(parseSteps(items).ok).toBe(false);
    expect(parseSteps([`${'REP:1:'.repeat(40)}PING`]).ok).toBe(false);
  });
});

describe('a scripted call', () => {
  it.each([
    [{ status: 42 }, 'calls[0].status'],
    [{ delay: -1 }, 'calls[0].delay'],
    [{ split: 0.5 }, 'calls[0].split'],
    [{ eol: '\n\n' }, 'calls[0].eol'],
    [{ headers: { 'x-a': 'b\r\nc: d' } }, 'calls[0].headers.x-a'],
    [{ body: 'ok', sse: ['ROLE'] }, 'calls[0].sse: cannot stand beside body'],
    [{ sttaus: 500 }, 'calls[0].sttaus: unknown; allowed: status'],
    [{ sse: ['NO'] }, 'calls[0].sse[0]: unknown step'],
  ])('%j is refused by name', (call, words) => {
    const parsed = parseScript([call]);
    expect(parsed.ok ? '' : parsed.fault).toContain(words);
  });

  it.each([
    ['ok', 'text'],
    ['1', 'text'],
    ['{"a":1}', 'bytes'],
    ['[]', 'bytes'],
    ['<html>lost</html>', 'bytes'],
    ['<!doctype html>', 'bytes'],
    ['<b>no page</b>', 'text'],
  ])('a body %j is %s', (body, kind) => {
    const parsed = parseScript([{ body }]);
    expect(parsed.ok && parsed.value[0]?.content.kind).toBe(kind);
  });

  it('refuses an empty script and one that is too long', () => {
    expect(parseScript([]).ok).toBe(false);
    expect(parseScript(Array.from({ length: 10_001 }, () => ({}))).ok).toBe(false);
  });
});
