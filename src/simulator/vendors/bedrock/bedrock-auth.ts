/**
 * Who may ask: a bearer token, or a request signed by signature version 4, worked out here from its
 * definition alone.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import {
  type AuthRule,
  bearerOf,
  headerOf,
  isAccepted,
  type RequestHead,
  type VendorFault,
} from '../vendor.ts';
import { bedrockFault, bedrockFaultOf } from './bedrock-faults.ts';

/** AWS's published example: the one access key that is known where any credential is good. */
export const exampleAccessKey = {
  id: 'AKIDEXAMPLE',
  secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
} as const;

const skewMsMax = 5 * 60_000;

type Signature = {
  readonly accessKeyId: string;
  readonly date: string;
  readonly region: string;
  readonly signedHeaders: readonly string[];
  readonly hex: string;
};

/** Accepted access keys stand in a list of credentials as `id:secret`, bearer tokens as they are. */
export function authFault(
  head: RequestHead,
  rule: AuthRule,
  sent: { readonly body: Buffer; readonly nowMs: number },
): VendorFault | null {
  if (rule === 'open') return null;
  const bearer = bearerOf(head);
  if (bearer !== null) {
    if (isAccepted(bearer, rule) && !bearer.includes(':')) return null;
    return bedrockFaultOf(
      403,
      'AccessDeniedException',
      'Authentication failed: Please make sure your API Key is valid.',
    );
  }
  if (headerOf(head, 'authorization') === null) {
    return bedrockFaultOf(
      403,
      'MissingAuthenticationTokenException',
      'Missing Authentication Token',
    );
  }
  return signatureFault(head, rule, sent);
}

function signatureFault(
  head: RequestHead,
  rule: Exclude<AuthRule, 'open'>,
  { body, nowMs }: { readonly body: Buffer; readonly nowMs: number },
): VendorFault | null {
  const signature = readSignature(headerOf(head, 'authorization') ?? '');
  const stamp = headerOf(head, 'x-amz-date') ?? '';
  const sentAtMs = instantOf(stamp);
  if (signature === null || sentAtMs === null || !stamp.startsWith(signature.date)) {
    return bedrockFaultOf(
      403,
      'IncompleteSignatureException',
      'Authorization header requires Credential, SignedHeaders and Signature, and the request its date.',
    );
  }
  const secret = secretOf(signature.accessKeyId, rule);
  if (secret === null) return bedrockFault('auth');
  const unsigned = mustBeSigned(head).filter((name) => !signature.signedHeaders.includes(name));
  if (unsigned.length > 0) {
    return invalid(`Headers that must be signed are not: ${unsigned.join(', ')}`);
  }
  if (Math.abs(nowMs - sentAtMs) > skewMsMax) {
    return invalid(
      nowMs > sentAtMs
        ? `Signature expired: ${stamp} is now earlier than ${stampOf(nowMs - skewMsMax)} (${stampOf(nowMs)} - 5 min.)`
        : `Signature not yet current: ${stamp} is still later than ${stampOf(nowMs + skewMsMax)} (${stampOf(nowMs)} + 5 min.)`,
    );
  }
  const hash = sha256(body);
  const stated = headerOf(head, 'x-amz-content-sha256');
  if (stated !== null && stated !== hash) {
    return invalid("The value of 'x-amz-content-sha256' does not match the calculated hash.");
  }
  const expected = signedHex(head, signature, { stamp, hash, secret });
  return isSame(expected, signature.hex) ? null : invalid(mismatch);
}

const mismatch =
  'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.';

function invalid(message: string): VendorFault {
  return bedrockFaultOf(403, 'InvalidSignatureException', message);
}

function readSignature(authorization: string): Signature | null {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([a-z0-9-]+)\/bedrock\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (match === null) return null;
  const [, accessKeyId = '', date = '', region = '', names = '', hex = ''] = match;
  return { accessKeyId, date, region, signedHeaders: names.split(';'), hex };
}

function secretOf(accessKeyId: string, rule: Exclude<AuthRule, 'open'>): string | null {
  if (rule === 'any') {
    return accessKeyId === exampleAccessKey.id ? exampleAccessKey.secret : null;
  }
  const entry = rule.find((each) => each.startsWith(`${accessKeyId}:`));
  return entry?.slice(accessKeyId.length + 1) ?? null;
}

function mustBeSigned(head: RequestHead): readonly string[] {
  return Object.keys(head.headers).filter(
    (name) => name === 'host' || (name.startsWith('x-amz-') && name !== 'x-amz-user-agent'),
  );
}

function signedHex(
  head: RequestHead,
  { date, region, signedHeaders }: Signature,
  {
    stamp,
    hash,
    secret,
  }: { readonly stamp: string; readonly hash: string; readonly secret: string },
): string {
  const headers = signedHeaders.map((name) => `${name}:${trimmed(head, name)}\n`).join('');
  const canonical = [
    head.method,
    head.path.split('/').map(encoded).join('/'),
    canonicalQuery(head.query),
    headers,
    signedHeaders.join(';'),
    hash,
  ].join('\n');
  const scope = `${date}/${region}/bedrock/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n');
  const key = [date, region, 'bedrock', 'aws4_request'].reduce<Buffer>(
    (previous, part) => hmac(previous, part),
    Buffer.from(`AWS4${secret}`),
  );
  return hmac(key, toSign).toString('hex');
}

/** Of the path as it was sent: an encoded character is encoded once more. */
function encoded(segment: string): string {
  return encodeURIComponent(segment).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return pairs.sort().join('&');
}

function trimmed(head: RequestHead, name: string): string {
  return (headerOf(head, name) ?? '').trim().replaceAll(/\s+/g, ' ');
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function instantOf(stamp: string): number | null {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(stamp);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second] = match;
  const instant = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(instant) ? null : instant;
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
}
