/** The last guard before a log line: whatever slipped into it, no credential leaves. Addresses stay, operators need them. */
import type { LogFields } from '../base/log-port.ts';

const mark = '[redacted]';
const textCharactersMax = 4_000;

/** Names whose value is a credential, whatever it looks like. */
const secretName =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key|x-goog-api-key|api_?key|password|secret|admin_?key|client_?key|(access|auth|refresh)_?token)$/i;

const secretForms: readonly (readonly [form: RegExp, replacement: string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${mark}`],
  [/([?&](?:key|api[_-]?key|access_token|token)=)[^&\s"'#]+/gi, `$1${mark}`],
  [/\b(?:sk|pk|rk|gsk|hf|ghp|nvapi)[-_][\w-]{8,}/g, mark],
  [/\btg_[a-z]+_[\w-]{16,}/g, mark],
  [/\bAIza[\w-]{10,}/g, mark],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g, mark],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, mark],
];

export type Redaction = {
  readonly text: (text: string) => string;
  readonly fields: (fields: LogFields) => LogFields;
};

/** `known` are this process's own secrets: taken out wherever they stand. */
export function createRedaction(known: readonly string[]): Redaction {
  const exact = known.filter((secret) => secret.length >= 6);
  const text = (input: string): string => {
    let clean = input.length > textCharactersMax ? `${input.slice(0, textCharactersMax)}…` : input;
    for (const secret of exact) clean = clean.replaceAll(secret, mark);
    for (const [form, replacement] of secretForms) clean = clean.replace(form, replacement);
    return clean;
  };
  const fields = (input: LogFields): LogFields => {
    const clean: Record<string, LogFields[string]> = {};
    for (const [name, value] of Object.entries(input)) {
      if (typeof value !== 'string') clean[name] = value;
      else clean[name] = secretName.test(name) ? mark : text(value);
    }
    return clean;
  };
  return { text, fields };
}
