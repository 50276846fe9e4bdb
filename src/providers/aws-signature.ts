/** Signature version 4: each request is signed with a secret that is never sent, for five minutes around its time. */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../base/clock.ts';
import { parseHttpDate } from '../failure/http-date.ts';
import type { UpstreamRequest } from '../transport/transport.ts';

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials; null = they are lasting ones. */
  readonly sessionToken: string | null;
};

/**
 * The headers to add to `request`, a POST. Beside them only `host` and `content-type` are signed: what
 * stands between here and the service may change the others.
 */
export async function signatureHeaders(
  request: UpstreamRequest,
  signing: {
    readonly credentials: AwsCredentials;
    readonly region: string;
    readonly service: string;
    readonly clock: Clock;
  },
): Promise<Readonly<Record<string, string>>> {
  const { accessKeyId, secretAccessKey, sessionToken } = signing.credentials;
  const signer = new SignatureV4({
    service: signing.service,
    region: signing.region,
    credentials: {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === null ? {} : { sessionToken }),
    },
    sha256: NodeSha256,
  });
  const url = new URL(request.url);
  const content = request.headers['content-type'];
  const unsigned: Record<string, string> = {
    host: url.host,
    ...(content === undefined ? {} : { 'content-type': content }),
  };
  const signed = await signer.sign(
    {
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: {},
      headers: unsigned,
      body: request.body,
    },
    { signingDate: new Date(signing.clock.wallMs()) },
  );
  const added = Object.entries(signed.headers).filter(([name]) => !Object.hasOwn(unsigned, name));
  return Object.fromEntries(added);
}

/** Signatures hold for five minutes around their time; what is refused within four was not refused for it. */
const skewMsMin = 4 * 60_000;

/**
 * How far the clock of a service that refused `proof` is ahead of ours, by the `date` of its answer;
 * null when the time cannot have been the reason.
 */
export function clockSkewMs(
  proof: Readonly<Record<string, string>>,
  date: string | undefined,
  nowWallMs: number,
): number | null {
  const serverMs = date === undefined ? null : parseHttpDate(date, nowWallMs);
  const stamp = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(proof['x-amz-date'] ?? '');
  if (serverMs === null || stamp === null) return null;
  const [year = 0, month = 0, day, hour, minute, second] = stamp.slice(1).map(Number);
  const signedMs = Date.UTC(year, month - 1, day, hour, minute, second);
  return Math.abs(serverMs - signedMs) < skewMsMin ? null : serverMs - nowWallMs;
}

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** The machine's own SHA-256 in the form that the signer wants: large bodies are hashed for every attempt. */
class NodeSha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: Bytes) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', viewOf(secret));
  }

  update(data: Bytes): void {
    this.#hash.update(viewOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}

function viewOf(data: Bytes): string | NodeJS.ArrayBufferView {
  return data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : (data as string | NodeJS.ArrayBufferView);
}
