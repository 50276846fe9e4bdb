/** The published test vectors of the event stream encoding, read where the recorded fixtures lie. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EventStreamSplitter, type HeaderValue } from '../../../src/framing/aws-event-stream.ts';
import { recordedFolder } from '../dialects/recorded-fixtures.ts';

type Vector = {
  readonly file: string;
  readonly valid: boolean;
  readonly decoded: {
    readonly headers: readonly (readonly [string, number, string | number | boolean])[];
    readonly payload: string;
  } | null;
};

const root = recordedFolder();
const folder = join(root ?? '', 'bedrock/framing');
const vectors: readonly Vector[] =
  root === null ? [] : JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));

/** The manifest's spelling of a value: what JSON cannot hold is a text with its kind before it. */
function spelled(type: number, value: HeaderValue | undefined): unknown {
  if (Buffer.isBuffer(value)) return `base64:${value.toString('base64')}`;
  if (typeof value === 'bigint') return value.toString();
  if (type === 8) return `ms:${value}`;
  return type === 9 ? `uuid:${value}` : value;
}

describe('the vectors of the event stream encoding', () => {
  it.skipIf(root === null)('are all there', () => expect(vectors).toHaveLength(11));

  it.each(vectors.map((vector) => [vector.file, vector] as const))(
    '%s is read or refused as published',
    (file, { valid, decoded }) => {
      const splitter = new EventStreamSplitter({ eventBytesMax: 1 << 20 });
      const messages = [...splitter.push(readFileSync(join(folder, file))), ...splitter.end()];
      expect(messages).toHaveLength(1);
      const [message] = messages;
      if (!valid || decoded === null) {
        expect(message?.kind).not.toBe('message');
        return;
      }
      if (message?.kind !== 'message') throw new Error(message?.kind);
      expect(`base64:${message.payload.toString('base64')}`).toBe(decoded.payload);
      expect(
        decoded.headers.map(([name, type]) => [
          name,
          type,
          spelled(type, message.headers.get(name)),
        ]),
      ).toEqual(decoded.headers);
      expect(message.headers.size).toBe(decoded.headers.length);
    },
  );
});
