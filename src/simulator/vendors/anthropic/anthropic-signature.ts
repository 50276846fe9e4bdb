/** Signatures of thinking blocks, so that a changed or foreign block is refused as the real service does. */
import { createHash } from 'node:crypto';

const mark = 'simulated-claude';

export function thinkingSignature(thinking: string): string {
  const digest = createHash('sha256').update(thinking).digest('hex').slice(0, 32);
  return Buffer.from(`${mark}:${digest}`).toString('base64');
}

/** False for a signature that this service never gave, or gave for other text. '' is omitted thinking. */
export function isThinkingSignature(signature: string, thinking: string): boolean {
  const isOurs = Buffer.from(signature, 'base64').toString('latin1').startsWith(`${mark}:`);
  return isOurs && (thinking === '' || signature === thinkingSignature(thinking));
}
