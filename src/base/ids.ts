/** Identifiers that sort by time. */
import { randomFillSync } from 'node:crypto';

const poolBytes = 4096;
const pool = Buffer.allocUnsafe(poolBytes);
let poolOffset = poolBytes;

function randomBytesPooled(count: number): Buffer {
  if (poolOffset + count > poolBytes) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  poolOffset += count;
  return pool.subarray(poolOffset - count, poolOffset);
}

/** A UUIDv7 (RFC 9562) for the instant `wallMs` (Unix epoch, milliseconds). */
export function uuidv7(wallMs: number): string {
  const time = Math.floor(wallMs).toString(16).padStart(12, '0');
  const bits = Buffer.from(randomBytesPooled(10));
  bits[0] = ((bits[0] ?? 0) & 0x0f) | 0x70;
  bits[2] = ((bits[2] ?? 0) & 0x3f) | 0x80;
  const hex = bits.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-${hex.slice(0, 4)}-${hex.slice(4, 8)}-${hex.slice(8)}`;
}

/** `count` random bytes as lower-case hex. */
export function randomHex(count: number): string {
  return randomBytesPooled(count).toString('hex');
}
