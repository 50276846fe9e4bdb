/** One call of a script: what a provider does with the n-th request, instead of answering by itself. */
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { type Manner, manners } from '../go-on.ts';
import { parseSteps, type Step, type StepText } from './step.ts';

/**
 * As written. At most one of `body`, `text`, `story`, `sse`, `socket`; none with a status below 400 = the
 * provider's own answer, from 400 on = an empty body.
 */
export type ScriptedCall = {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string | readonly string[] };
  /** Milliseconds before the first byte. */
  readonly delay?: number;
  /**
   * JSON as an object or list; text that is JSON or HTML as it is; other text = a reply that says it;
   * a Buffer = these bytes.
   */
  readonly body?: unknown;
  /** A whole, valid reply (a stream when a stream was asked for) that says this text. */
  readonly text?: string;
  /** Like `text`, but of a part of it, as an answer that broke off, what follows. */
  readonly story?: string;
  /** How it goes on with a part of `story`. */
  readonly manner?: Manner;
  /** False: a part of `story` that stands last in the conversation is refused. */
  readonly prefill?: boolean;
  /** The raw finish reason that goes with `text`. */
  readonly finish?: string;
  readonly sse?: readonly StepText[];
  /** Steps whose bytes go to the socket as they are, status line and headers included. */
  readonly socket?: readonly StepText[];
  /** Bytes a write; 0 = a write per step. */
  readonly split?: number;
  /** Line end of events: \n, \r\n or \r. */
  readonly eol?: string;
};

export type CallContent =
  | { readonly kind: 'answer' }
  /** Text is compressed under a `content-encoding`; a buffer goes out as it is. */
  | {
      readonly kind: 'bytes';
      readonly bytes: Buffer | string;
      readonly contentType: string | null;
    }
  | { readonly kind: 'text'; readonly text: string; readonly finish: string | null }
  | {
      readonly kind: 'story';
      readonly text: string;
      readonly manner: Manner;
      readonly takesPrefill: boolean;
    }
  | { readonly kind: 'steps'; readonly steps: readonly Step[] }
  | { readonly kind: 'socket'; readonly steps: readonly Step[] };

export type ParsedCall = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | readonly string[] };
  readonly delayMs: number;
  readonly content: CallContent;
  readonly splitBytes: number;
  readonly eol: string | null;
};

const callsMax = 10_000;
const delayMsMax = 24 * 3_600_000;
const lineEnds = ['\n', '\r\n', '\r'];
const fields = [
  'status',
  'headers',
  'delay',
  'body',
  'text',
  'story',
  'manner',
  'prefill',
  'finish',
  'sse',
  'socket',
  'split',
  'eol',
];
const contentFields = ['body', 'text', 'story', 'sse', 'socket'];

/** Parses a script; the fault names the call and the field. */
export function parseScript(calls: unknown): Result<readonly ParsedCall[], string> {
  if (!Array.isArray(calls) || calls.length === 0)
    return fail('calls: expected a list of at least one call');
  if (calls.length > callsMax) return fail(`calls: at most ${callsMax}`);
  const parsed: ParsedCall[] = [];
  for (const [index, call] of calls.entries()) {
    const one = parseCall(call);
    if (!one.ok) return fail(`calls[${index}].${one.fault}`);
    parsed.push(one.value);
  }
  return success(parsed);
}

function parseCall(call: unknown): Result<ParsedCall, string> {
  if (!isJsonObject(call)) return fail(`: expected an object with ${fields.join(', ')}`);
  const unknown = Object.keys(call).find((name) => !fields.includes(name));
  if (unknown !== undefined) return fail(`${unknown}: unknown; allowed: ${fields.join(', ')}`);
  const status = call['status'] ?? 200;
  if (!isWholeIn(status, 200, 599)) return fail('status: expected a number from 200 to 599');
  const delayMs = call['delay'] ?? 0;
  if (!isWholeIn(delayMs, 0, delayMsMax))
    return fail(`delay: expected milliseconds up to ${delayMsMax}`);
  const splitBytes = call['split'] ?? 0;
  if (!isWholeIn(splitBytes, 0, 1_000_000)) return fail('split: expected a number of bytes');
  const eol = call['eol'] ?? null;
  if (eol !== null && (typeof eol !== 'string' || !lineEnds.includes(eol))) {
    return fail('eol: expected "\\n", "\\r\\n" or "\\r"');
  }
  const headers = parseHeaders(call['headers'] ?? {});
  if (!headers.ok) return headers;
  const content = parseContent(call, status);
  if (!content.ok) return content;
  return success({
    status,
    headers: headers.value,
    delayMs,
    content: content.value,
    splitBytes,
    eol,
  });
}

function isWholeIn(value: unknown, low: number, high: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high;
}

function parseHeaders(value: unknown): Result<ParsedCall['headers'], string> {
  if (!isJsonObject(value)) return fail('headers: expected an object');
  const headers: { [name: string]: string | readonly string[] } = {};
  for (const [name, header] of Object.entries(value)) {
    const values = Array.isArray(header) ? header : [header];
    const isText = values.every((one) => typeof one === 'string' && !/[\r\n\0]/.test(one));
    if (!isText || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      return fail(`headers.${name}: expected one line of text`);
    }
    headers[name.toLowerCase()] = typeof header === 'string' ? header : values;
  }
  return success(headers);
}

function parseContent(call: JsonObject, status: number): Result<CallContent, string> {
  const given = contentFields.filter((name) => call[name] !== undefined);
  if (given.length > 1) return fail(`${given[1]}: cannot stand beside ${given[0]}`);
  if (call['sse'] !== undefined || call['socket'] !== undefined) {
    const steps = parseSteps(call['sse'] ?? call['socket']);
    if (!steps.ok) return steps;
    return success({ kind: call['sse'] === undefined ? 'socket' : 'steps', steps: steps.value });
  }
  if (call['story'] !== undefined) return parseStory(call);
  const finish = call['finish'] ?? null;
  if (finish !== null && typeof finish !== 'string') return fail('finish: expected text');
  const text = call['text'];
  if (text !== undefined) {
    return typeof text === 'string'
      ? success({ kind: 'text', text, finish })
      : fail('text: expected text');
  }
  if (call['body'] !== undefined) return success(bodyContent(call['body'], finish));
  if (status < 400) return success({ kind: 'answer' });
  return success({ kind: 'bytes', bytes: Buffer.alloc(0), contentType: null });
}

function parseStory(call: JsonObject): Result<CallContent, string> {
  const { story, manner: named = 'faithful', prefill = true } = call;
  if (typeof story !== 'string') return fail('story: expected text');
  const manner = manners.find((one) => one === named);
  if (manner === undefined) return fail(`manner: expected one of ${manners.join(', ')}`);
  if (typeof prefill !== 'boolean') return fail('prefill: expected true or false');
  return success({ kind: 'story', text: story, manner, takesPrefill: prefill });
}

function bodyContent(body: unknown, finish: string | null): CallContent {
  const json = 'application/json';
  if (Buffer.isBuffer(body)) return { kind: 'bytes', bytes: body, contentType: json };
  if (typeof body !== 'string') {
    return { kind: 'bytes', bytes: JSON.stringify(body), contentType: json };
  }
  if (/^\s*<(?:!doctype|html|head|body)/i.test(body)) {
    return { kind: 'bytes', bytes: body, contentType: 'text/html; charset=utf-8' };
  }
  const parsed = parseJson(body);
  // A bare number or word is text that happens to parse.
  const isDocument = parsed.ok && typeof parsed.value === 'object' && parsed.value !== null;
  if (isDocument) return { kind: 'bytes', bytes: body, contentType: json };
  return { kind: 'text', text: body, finish };
}
