/** Thought signatures: bound to a model family, demanded back by Gemini 3. */
import { createHash } from 'node:crypto';

const mark = 'simulated-gemini';

/** base64 of `skip_thought_signature_validator`, which the service takes for a foreign history. */
const dummySignature = 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=';

export function isGemini3(model: string): boolean {
  return model.startsWith('gemini-3');
}

/** Models that think and sign: 2.5 and later. */
export function isSigning(model: string): boolean {
  return /^gemini-(2\.5|[3-9])/.test(model);
}

function familyOf(model: string): string {
  return /^gemini-\d+/.exec(model)?.[0] ?? 'gemini';
}

export function thoughtSignature(model: string, callName: string): string {
  const digest = createHash('sha256').update(callName).digest('hex').slice(0, 24);
  return Buffer.from(`${mark}:${familyOf(model)}:${digest}`).toString('base64');
}

/** False for text that is no base64 and for a signature that another family or vendor gave. */
export function isThoughtSignature(signature: string, model: string): boolean {
  if (signature === dummySignature) return true;
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(signature)) return false;
  const decoded = Buffer.from(signature, 'base64').toString('latin1');
  if (!decoded.startsWith('simulated-')) return true;
  return decoded.startsWith(`${mark}:${familyOf(model)}:`);
}
