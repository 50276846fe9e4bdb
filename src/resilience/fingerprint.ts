/** Bodies known again without being kept. */
import { createHash } from 'node:crypto';

/** SHA-256 as 43 characters (base64url). Costs a pass over the body: ask after a failure only. */
export function fingerprintOf(body: Uint8Array | string): string {
  return createHash('sha256').update(body).digest('base64url');
}
