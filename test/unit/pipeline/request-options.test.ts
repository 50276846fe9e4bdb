import { describe, expect, it } from 'vitest';
import { readRequestOptions } from '../../../src/pipeline/request-options.ts';

function faultOf(headers: Record<string, string>, extension: Record<string, unknown> = {}) {
  const read = readRequestOptions(headers, extension);
  return read.ok ? null : read.fault;
}

describe('what a caller says to the gateway itself', () => {
  // Repeated headers are joined with a comma before they are read.
  it.each(['', ' 5', '+5', '-5', '5.0', '1e3', '0x10', '5, 5', '５'])(
    'a number of retries that is written %j is refused by what is wrong with it',
    (value) => {
      const given = `must be a whole number from 0, not ${JSON.stringify(value)}`;
      const header = 'x-tiergate-max-retries';
      expect(faultOf({ [header]: value })).toEqual({
        message: `${header} ${given}`,
        param: header,
      });
      const field = 'tiergate.max_retries';
      const refused = { message: `${field} ${given}`, param: field };
      expect(faultOf({}, { max_retries: value })).toEqual(refused);
    },
  );

  it.each(['0', '3', '10', '99999999999', '9'.repeat(400), '007'])(
    'any whole number of retries (%.20s) is taken: it only lowers what the tier allows',
    (value) => {
      const read = readRequestOptions({ 'x-tiergate-max-retries': value }, null);
      expect(read).toMatchObject({ ok: true, value: { maxRetries: Math.min(Number(value), 10) } });
    },
  );

  it.each([0, 4, 1e21])('so is one of JSON (%d)', (value) => {
    const read = readRequestOptions({}, { max_retries: value });
    expect(read).toMatchObject({ ok: true, value: { maxRetries: Math.min(value, 10) } });
  });

  it('a deadline out of range is told with the range and as it was given', () => {
    const message =
      'x-tiergate-deadline-ms must be a whole number of milliseconds from 1 to 2147483647, not "99999999999"';
    expect(faultOf({ 'x-tiergate-deadline-ms': '99999999999' })?.message).toBe(message);
  });

  it.each([
    [{ failover: 'maybe' }, 'tiergate.failover must be `off` or `on`, not "maybe"'],
    [{ meta: true }, 'tiergate.meta must be `body`, or be left out; it is true'],
    [{ eval_mode: 'lax' }, 'tiergate.eval_mode must be `strict`, or be left out; it is "lax"'],
    [{ pin: 7 }, 'tiergate.pin must be text of 1 to 256 characters, not 7'],
    [
      { session: 'x'.repeat(300) },
      'tiergate.session must be text of 1 to 256 characters, not 300 characters',
    ],
    [{ run_id: '' }, 'tiergate.run_id must be text of 1 to 256 characters, not 0 characters'],
    [{ tags: { a: 7 } }, 'tiergate.tags has 7 for a, not text of at most 256 characters'],
    [
      { tags: { a: 'x'.repeat(257) } },
      'tiergate.tags has 257 characters for a, not text of at most 256 characters',
    ],
    [{ variables: '[]' }, 'tiergate.variables must be a JSON object, or `b64:` and its base64url'],
    [{ variables: 'x'.repeat(9000) }, 'tiergate.variables is 9000 characters long, more than 8192'],
    [
      { variables: { topic: 'x'.repeat(9000) } },
      'tiergate.variables is 9012 characters long, more than 8192',
    ],
  ])('%j is refused by field, value and range', (extension, message) => {
    expect(faultOf({}, extension)?.message).toBe(message);
  });

  it('a long value is cut where it is told', () => {
    const fault = faultOf({ 'x-tiergate-deadline-ms': '1'.repeat(5000) });
    expect(fault?.message.length).toBeLessThan(200);
  });
});
