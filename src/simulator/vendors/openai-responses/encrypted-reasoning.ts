/** What a reasoning item carries for the service alone, so that a changed or foreign one is refused as there. */
import { createHash } from 'node:crypto';

const mark = 'gAAAAAsim';

export function encryptedReasoning(thinking: string): string {
  return mark + createHash('sha256').update(thinking).digest('base64url');
}

export function isEncryptedReasoning(text: string): boolean {
  return text.startsWith(mark);
}
