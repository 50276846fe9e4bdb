/** Requests as the Converse API wants them signed, worked out apart from any library, read where the recorded fixtures lie. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { signatureHeaders } from '../../../src/providers/aws-signature.ts';
import { bedrockVendor } from '../../../src/simulator/vendors/bedrock/bedrock-vendor.ts';
import { recordedFolder } from '../dialects/recorded-fixtures.ts';

type Vector = {
  readonly name: string;
  readonly service: string;
  readonly region: string;
  /** `20260102T030405Z`. */
  readonly date: string;
  readonly host: string;
  readonly path: string;
  readonly body: string;
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly session_token: string | null;
  readonly headers: Readonly<Record<string, string>>;
};

const root = recordedFolder();
const vectors: readonly Vector[] =
  root === null ? [] : JSON.parse(readFileSync(join(root, 'sigv4/bedrock.json'), 'utf8'));

function instantOf(date: string): number {
  return Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

describe('the vectors of signature version 4', () => {
  it.skipIf(root === null)('are all there', () => expect(vectors).toHaveLength(3));

  it.each(
    vectors.flatMap((vector) => [
      [vector.name, vector, vector.body] as const,
      [`${vector.name}, as bytes`, vector, Buffer.from(vector.body)] as const,
    ]),
  )('%s: the same headers, byte for byte', async (_name, vector, body) => {
    const { host, 'content-type': contentType, ...signed } = vector.headers;
    const url = `https://${vector.host}${vector.path}`;
    const headers = {
      'content-type': contentType ?? '',
      accept: 'application/json',
      'x-client-request-id': 'not signed',
    };
    const added = await signatureHeaders(
      { url, headers, body },
      {
        credentials: {
          accessKeyId: vector.access_key_id,
          secretAccessKey: vector.secret_access_key,
          sessionToken: vector.session_token,
        },
        region: vector.region,
        service: vector.service,
        clock: { ...systemClock, wallMs: () => instantOf(vector.date) },
      },
    );
    expect(added).toEqual(signed);
    expect(new URL(url).host).toBe(host);
  });

  it.each(vectors.map((vector) => [vector.name, vector] as const))(
    '%s: the simulated service, which works them out by itself, takes it and no other',
    (_name, vector) => {
      const head = {
        method: 'POST',
        path: vector.path,
        query: new URLSearchParams(),
        headers: vector.headers,
      };
      const nowMs = instantOf(vector.date);
      const accepted = [`${vector.access_key_id}:${vector.secret_access_key}`];
      const body = Buffer.from(vector.body);
      const judged = (over: object, sent = { body, nowMs }, rule = accepted) =>
        bedrockVendor.authorize({ ...head, ...over }, rule, sent)?.type ?? null;
      expect(judged({})).toBeNull();
      expect(judged({}, { body: Buffer.from('{}'), nowMs })).toBe('InvalidSignatureException');
      expect(judged({}, { body, nowMs: nowMs + 301_000 })).toBe('InvalidSignatureException');
      expect(judged({}, { body, nowMs: nowMs - 301_000 })).toBe('InvalidSignatureException');
      expect(judged({ path: `${vector.path}x` })).toBe('InvalidSignatureException');
      expect(judged({ headers: { ...vector.headers, host: 'other' } })).toBe(
        'InvalidSignatureException',
      );
      expect(judged({ headers: { ...vector.headers, 'x-amz-other': 'a' } })).toBe(
        'InvalidSignatureException',
      );
      expect(judged({}, undefined, [`${vector.access_key_id}:other`])).toBe(
        'InvalidSignatureException',
      );
      expect(judged({}, undefined, ['OTHER:secret'])).toBe('UnrecognizedClientException');
    },
  );
});
