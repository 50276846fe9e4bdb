/** What the caller says to the gateway itself: headers, or the body's `tiergate` object; a header wins. */
import { isJsonObject, type JsonObject, parseJson, property } from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';
import { parseWholeNumber, shown } from '../base/whole-number.ts';
import type { RequestFault } from '../dialects/dialect.ts';
import { parseDeadlineMs } from '../resilience/deadline.ts';

export type RequestOptions = {
  /** Null: none was sent, or it cannot be used. */
  readonly clientRequestId: string | null;
  readonly deadlineMs: number | null;
  readonly pin: string | null;
  readonly isFailoverOff: boolean;
  readonly maxRetries: number | null;
  readonly evalRun: string | null;
  readonly isStrict: boolean;
  readonly session: string | null;
  readonly runId: string | null;
  readonly tags: { readonly [name: string]: string };
  readonly variables: JsonObject;
  readonly wantsMeta: boolean;
};

export type Headers = Readonly<Record<string, string | undefined>>;

const tagsMax = 16;
const tagNameMax = 64;
const tagValueMax = 256;
const variablesBytesMax = 8 * 1024;
const maxRetriesMax = 10;
const nameMax = 256;
const printableId = /^[\x20-\x7e]{1,128}$/;

/** Names as in the extension, with the header that says the same. */
const headerOf = {
  deadline_ms: 'x-tiergate-deadline-ms',
  pin: 'x-tiergate-pin',
  failover: 'x-tiergate-failover',
  max_retries: 'x-tiergate-max-retries',
  eval_run: 'x-tiergate-eval-run',
  eval_mode: 'x-tiergate-eval-mode',
  session: 'x-tiergate-session',
  run_id: 'x-tiergate-run-id',
  tags: 'x-tiergate-tags',
  variables: 'x-tiergate-variables',
  meta: 'x-tiergate-meta',
} as const;

type OptionName = keyof typeof headerOf;

/** Collects the first fault: one clear sentence is worth more than a list. */
class OptionReader {
  fault: RequestFault | null = null;
  readonly #headers: Headers;
  readonly #extension: JsonObject | null;

  constructor(headers: Headers, extension: JsonObject | null) {
    this.#headers = headers;
    this.#extension = extension;
  }

  /** The raw value of the option's header, else of the extension's `name`; null when absent. */
  raw(name: OptionName): { readonly value: unknown; readonly at: string } | null {
    const header = headerOf[name];
    const fromHeader = this.#headers[header];
    if (fromHeader !== undefined) return { value: fromHeader, at: header };
    if (this.#extension === null) return null;
    const value = property(this.#extension, name);
    return value === undefined || value === null ? null : { value, at: `tiergate.${name}` };
  }

  read<Value>(
    name: OptionName,
    absent: Value,
    parse: (value: unknown) => Result<Value, string>,
  ): Value {
    const raw = this.raw(name);
    if (raw === null) return absent;
    const parsed = parse(raw.value);
    if (parsed.ok) return parsed.value;
    this.fault ??= { message: `${raw.at} ${parsed.fault}`, param: raw.at };
    return absent;
  }
}

export function readRequestOptions(
  headers: Headers,
  extension: JsonObject | null,
): Result<RequestOptions, RequestFault> {
  const reader = new OptionReader(headers, extension);
  const options: RequestOptions = {
    clientRequestId: clientRequestIdOf(headers, extension),
    deadlineMs: reader.read<number | null>('deadline_ms', null, parseDeadlineMs),
    pin: reader.read<string | null>('pin', null, parseName),
    isFailoverOff: reader.read('failover', false, parseFailover),
    maxRetries: reader.read<number | null>('max_retries', null, parseMaxRetries),
    evalRun: reader.read<string | null>('eval_run', null, parseName),
    isStrict: reader.read('eval_mode', false, parseEvalMode),
    session: reader.read<string | null>('session', null, parseName),
    runId: reader.read<string | null>('run_id', null, parseName),
    tags: reader.read('tags', {}, parseTags),
    variables: reader.read('variables', {}, parseVariables),
    wantsMeta: reader.read('meta', false, parseMeta),
  };
  return reader.fault === null ? success(options) : fail(reader.fault);
}

/** A bad one is replaced, not refused: it only names the operation. */
function clientRequestIdOf(headers: Headers, extension: JsonObject | null): string | null {
  const value = headers['x-client-request-id'] ?? property(extension, 'client_request_id');
  return typeof value === 'string' && printableId.test(value) ? value : null;
}

/** How often the SDK says that it has repeated this call; 0 where it says nothing. */
export function clientRetryCountOf(headers: Headers): number {
  const value = headers['x-stainless-retry-count'];
  return value !== undefined && /^\d{1,4}$/.test(value) ? Number(value) : 0;
}

function parseName(value: unknown): Result<string, string> {
  const isName = typeof value === 'string' && value.length > 0 && value.length <= nameMax;
  if (isName) return success(value);
  const given = typeof value === 'string' ? `${value.length} characters` : shown(value);
  return fail(`must be text of 1 to ${nameMax} characters, not ${given}`);
}

function parseFailover(value: unknown): Result<boolean, string> {
  if (value === 'off' || value === false) return success(true);
  if (value === 'on' || value === true) return success(false);
  return fail(`must be \`off\` or \`on\`, not ${shown(value)}`);
}

function parseEvalMode(value: unknown): Result<boolean, string> {
  if (value === 'strict') return success(true);
  return fail(`must be \`strict\`, or be left out; it is ${shown(value)}`);
}

function parseMeta(value: unknown): Result<boolean, string> {
  if (value === 'body') return success(true);
  return fail(`must be \`body\`, or be left out; it is ${shown(value)}`);
}

/** It only lowers the tier's number: one above every tier's is as good as none. */
function parseMaxRetries(value: unknown): Result<number, string> {
  const parsed = parseWholeNumber(value, { min: 0, max: null });
  return parsed.ok ? success(Math.min(parsed.value, maxRetriesMax)) : parsed;
}

function parseTags(value: unknown): Result<Record<string, string>, string> {
  const pairs = isJsonObject(value) ? Object.entries(value) : pairsOf(value);
  if (pairs === null) return fail('must be `name=value` pairs, separated by commas');
  if (pairs.length > tagsMax) return fail(`holds ${pairs.length} tags, more than ${tagsMax}`);
  const tags: Record<string, string> = Object.create(null);
  for (const [name, text] of pairs) {
    if (name.length === 0 || name.length > tagNameMax) {
      return fail(`has a tag name of ${name.length} characters, not of 1 to ${tagNameMax}`);
    }
    if (typeof text !== 'string' || text.length > tagValueMax) {
      const given = typeof text === 'string' ? `${text.length} characters` : shown(text);
      return fail(`has ${given} for ${name}, not text of at most ${tagValueMax} characters`);
    }
    tags[name] = text;
  }
  return success(tags);
}

function pairsOf(value: unknown): [string, unknown][] | null {
  if (typeof value !== 'string') return null;
  const pairs: [string, unknown][] = [];
  for (const item of value.split(',')) {
    const equals = item.indexOf('=');
    if (equals <= 0) return null;
    const text = decodePercent(item.slice(equals + 1).trim());
    if (text === null) return null;
    pairs.push([item.slice(0, equals).trim(), text]);
  }
  return pairs;
}

function decodePercent(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // Broken escapes are the caller's fault and told as such.
    return null;
  }
}

function parseVariables(value: unknown): Result<JsonObject, string> {
  const expected = 'must be a JSON object, or `b64:` and its base64url';
  if (typeof value !== 'string' && !isJsonObject(value)) return fail(expected);
  const { length } = typeof value === 'string' ? value : JSON.stringify(value);
  if (length > variablesBytesMax) {
    return fail(`is ${length} characters long, more than ${variablesBytesMax}`);
  }
  if (typeof value !== 'string') return success(value);
  const text = value.startsWith('b64:')
    ? Buffer.from(value.slice(4), 'base64url').toString('utf8')
    : value;
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? success(parsed.value) : fail(expected);
}
