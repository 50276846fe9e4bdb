import { describe, expect, it } from 'vitest';
import {
  encodeJson,
  parseExactJson,
  parseToolArguments,
} from '../../../src/dialects/exact-json.ts';

describe('JSON that passes through', () => {
  it.each([
    '{"a":12345678901234567890}',
    '{"a":1.0,"b":[1e3,-0,0.10],"c":"1.0"}',
    '{"__proto__":1.50}',
    '1.0',
  ])('keeps the spelling of its numbers: %s', (text) => {
    const parsed = parseExactJson(text);
    expect(parsed.ok && encodeJson(parsed.value)).toEqual({ ok: true, value: text });
  });

  it('tells a fault without quoting the text', () => {
    expect(parseExactJson('{"secret":1.0,')).toMatchObject({ ok: false });
    expect(JSON.stringify(parseExactJson('{"secret":1.0,'))).not.toContain('secret');
  });

  it('nested too deeply to be written is a fault', () => {
    const deep = parseExactJson(`${'['.repeat(200_000)}1.0${']'.repeat(200_000)}`);
    if (deep.ok) expect(encodeJson(deep.value)).toMatchObject({ ok: false });
    else expect(deep.fault).toBe('nested too deeply');
  });
});

describe('tool arguments', () => {
  it.each(['', ' \n', '{}'])('%j are an empty object', (text) => {
    expect(parseToolArguments(text)).toEqual({ ok: true, value: {} });
  });

  it.each(['1.0', '[1]', 'null', '"x"', '{'])('%s are no object', (text) => {
    expect(parseToolArguments(text).ok).toBe(false);
  });
});
