/** Makes a provider's words fit to be kept and shown: no credential, no address of our own network. */

const outputCharactersMax = 500;
/** Bounds the work: a message may be megabytes long. */
const inputCharactersMax = 4_000;

const stackTrace = /\n\s+at .{0,200}|Traceback \(most recent call last\)/;

/** The last two know no name: long words in which letters and digits mix as only a machine mixes them. */
const secretPatterns: readonly RegExp[] = [
  /\b(?:bearer|basic)\s+[\w.~+/=*-]{6,}/gi,
  /\b[\w-]{0,40}(?:api[ _-]?key|secret|password|passwd|(?:access|auth|refresh|id|session|security)[_-]?token|authorization|credential)s?["']?(?: provided)?\s{0,3}[:=]\s{0,3}["']?[^\s"',;&)]{6,}/gi,
  /\b(?:sk|pk|rk|gsk|tgp|hf|csk|ghp|glpat|nvapi|r8)[-_][\w*-]{8,}/gi,
  /\bAIza[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{8,}/g,
  /\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g,
  /\bya29\.[\w-]{6,}/g,
  /\bGOCSPX-[\w-]{6,}/g,
  /\b1\/\/0[\w-]{10,}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY.{0,4000}/g,
  /[^\s"'<>()]{0,64}\*{3,}[^\s"'<>()]{0,64}/g,
  /\b[a-z][a-z0-9]{1,7}[-_](?=[\w-]{0,80}\d)(?=[\w-]{0,80}[A-Z])[\w-]{20,}/g,
  /\b(?=\w{0,64}\d)(?=\w{0,64}[A-Za-z])\w{32,}\b/g,
];

/** Whose project it is, and where, in a cloud's names of resources. */
const resourcePath = /\b(projects|locations)\/(?!\[)[\w.:-]{1,64}/g;
const emailAddress = /[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}/g;
const webAddress =
  /\b(?:https?|wss?|grpcs?|tcp|redis|postgres(?:ql)?):\/\/(?:\[[\da-f:.]{2,45}\])?[^\s"'<>`()[\]{},]{0,2000}/gi;
const bareAddress =
  /\b(?:10|127)(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\b(?:192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))(?:\.\d{1,3}){2}(?::\d{1,5})?\b|\blocalhost:\d{1,5}\b|\[(?:::1|f[cd][0-9a-f:]{2,40}|fe80[0-9a-f:]{0,40})\](?::\d{1,5})?|\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,6}\.(?:internal|local|lan|corp|svc|intranet|home|localdomain)\b(?::\d{1,5})?/gi;

/** `text` in one line of at most 500 characters, without keys, tokens, private addresses and e-mails. */
export function redact(text: string): string {
  let clean = oneLine(cutAtWord(text));
  clean = clean.replace(webAddress, publicAddress);
  clean = clean.replace(emailAddress, '[e-mail]').replace(bareAddress, '[internal address]');
  clean = clean.replace(resourcePath, '$1/[redacted]');
  for (const pattern of secretPatterns) clean = clean.replace(pattern, '[redacted]');
  return cut(clean, outputCharactersMax);
}

/** A secret that the cut would halve is dropped whole: its first half no longer looks like one. */
function cutAtWord(text: string): string {
  if (text.length <= inputCharactersMax) return text;
  const head = text.slice(0, inputCharactersMax);
  const lastBlank = head.search(/\s\S*$/);
  return lastBlank === -1 ? '[a long text]' : head.slice(0, lastBlank);
}

function oneLine(text: string): string {
  const stackStart = text.search(stackTrace);
  const message = stackStart === -1 ? text : text.slice(0, stackStart);
  return message.replace(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, ' ').trim();
}

/** Keeps the address of a public page; a query may carry a key, and a host without a dot is ours. */
function publicAddress(match: string): string {
  const stop = /[.;:!?]*$/.exec(match)?.[0] ?? '';
  const address = match.slice(0, match.length - stop.length);
  if (!URL.canParse(address)) return `[address]${stop}`;
  const url = new URL(address);
  const isPublic = url.hostname.includes('.') && url.hostname.search(bareAddress) === -1;
  if (!isPublic) return `[internal address]${stop}`;
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}${stop}`;
}

function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const head = text.slice(0, charactersMax - 1);
  // Half a surrogate pair is no character.
  return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}…`;
}
