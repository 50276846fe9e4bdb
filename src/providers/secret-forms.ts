/** What credentials look like, so that a literal one is refused and never printed. */

/** Known forms of credentials; each needs a digit, so that plain words with dashes pass. */
const secretForms: readonly RegExp[] = [
  /\b(?:sk|pk|rk|sess|xai|pplx|nvapi|glpat|xox[abprs])-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{12,}/,
  /\b(?:gsk|ghp|gho|ghs|hf|r8|github_pat)_(?=[A-Za-z_]*\d)[A-Za-z0-9_]{12,}/,
  /\bAIza[A-Za-z0-9_-]{20,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/,
  /\bBearer\s+(?=\S*\d)\S{12,}/i,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\./,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  // Tokens and secrets of Google's cloud, and the file that holds a service account's key.
  /\bya29\.[A-Za-z0-9_-]{10,}/,
  /\bGOCSPX-[A-Za-z0-9_-]{10,}/,
  /\b1\/\/0[A-Za-z0-9_-]{20,}/,
  /"private_key"\s*:/,
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
