/** Signatures of reasoning, so that a changed or foreign block is refused as the real service does. */
import { createHash } from 'node:crypto';

const mark = 'simulated-bedrock';

export function reasoningSignature(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32);
  return Buffer.from(`${mark}:${digest}`).toString('base64');
}

export function isReasoningSignature(signature: string, text: string): boolean {
  return signature === reasoningSignature(text);
}
