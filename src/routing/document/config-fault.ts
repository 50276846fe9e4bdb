/** What is wrong with a document and where; never what the value was, which may be a secret. */

/** `path` is written `tiers.fast.targets[1].provider`; '' is the whole document. */
export type ConfigFault = { readonly path: string; readonly message: string };

/** Why a document was refused: every fault, and what would have been warned about besides. */
export type InvalidDocument = {
  readonly faults: readonly ConfigFault[];
  readonly warnings: readonly ConfigFault[];
};

const segmentLengthMax = 64;

/** Known forms of credentials; each needs a digit, so that plain words with dashes pass. */
const secretForms: readonly RegExp[] = [
  /\b(?:sk|pk|rk|sess|xai|pplx|nvapi|glpat|xox[abprs])-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{12,}/,
  /\b(?:gsk|ghp|gho|ghs|hf|r8|github_pat)_(?=[A-Za-z_]*\d)[A-Za-z0-9_]{12,}/,
  /\bAIza[A-Za-z0-9_-]{20,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/,
  /\bBearer\s+\S{12,}/i,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\./,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /hooks\.slack\.com\/services\/\S+/,
];

/** Whether `text` holds what looks like a credential. */
export function looksLikeSecret(text: string): boolean {
  return secretForms.some((form) => form.test(text));
}

/** Whether `text`, standing where a credential belongs, is more likely one than a name. */
export function looksLikeCredential(text: string): boolean {
  return looksLikeSecret(text) || /^(?=.*\d)(?=.*[A-Za-z])[\x21-\x7e]{16,}$/.test(text);
}

/** Joins object keys and array indexes; odd keys are quoted, long ones cut, secret ones withheld. */
export function formatPath(segments: readonly PropertyKey[]): string {
  let path = '';
  for (const segment of segments) {
    if (typeof segment === 'number') path += `[${segment}]`;
    else {
      const key = safeName(String(segment));
      if (!/^[\w.*/:@+-]+$/.test(key)) path += `[${JSON.stringify(key)}]`;
      else path += path === '' ? key : `.${key}`;
    }
  }
  return path;
}

/** A name from the document that may stand in a message. */
export function safeName(name: string): string {
  if (looksLikeSecret(name)) return '(withheld: looks like a key)';
  return name.length > segmentLengthMax ? `${name.slice(0, segmentLengthMax)}...` : name;
}

/** `; did you mean X?`, or nothing. */
export function suggestion(meant: string | null): string {
  return meant === null ? '' : `; did you mean ${meant}?`;
}
