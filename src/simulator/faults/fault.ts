/** The ways in which a simulated provider can be broken, and how a person asks for one. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { type Manner, manners } from '../go-on.ts';
import { faultReplyKinds } from '../vendors/vendor.ts';
import { parseDuration } from './duration.ts';

const rudeManners = manners.filter((manner) => manner !== 'faithful') as readonly Exclude<
  Manner,
  'faithful'
>[];

export const faultKinds = [
  ...faultReplyKinds,
  /** Close the connection at once, without a byte. */
  'refuse',
  /** TCP RST, without a byte. */
  'reset',
  /** The port is closed: connections are refused by the system. */
  'down',
  /** Accept the request and never answer. */
  'silent',
  /** The first token comes after `delay`. */
  'slow',
  /** The answer breaks off after `after_tokens`, without a final chunk. */
  'cut',
  /** The answer goes silent after `after_tokens`. */
  'stall',
  /** The answer ends as if complete after `after_tokens`, without its finish. */
  'truncate',
  /** From `after_tokens` on the answer is not the vendor's JSON any more. */
  'malformed',
  /** An error event after `after_tokens` of a stream; a whole reply is a 500. */
  'stream_error',
  /** An HTML page of a proxy, 502. */
  'bad_gateway',
  /** Overloaded for one `period`, well for the next, and so on. */
  'flap',
  /** No turn of the assistant's is continued: 400. Other requests are answered. */
  'refuse_prefill',
  /** An answer that broke off is gone on with rudely. */
  ...rudeManners,
] as const;
export type FaultKind = (typeof faultKinds)[number];

export type Fault = {
  readonly kind: FaultKind;
  /** Null = until it is cleared. */
  readonly forMs: number | null;
  /** The share of requests that it strikes, (0, 1]. */
  readonly share: number;
  /** Only this model; null = all. */
  readonly model: string | null;
  /** How many requests it strikes before it is over; null = no limit. */
  readonly count: number | null;
  readonly afterTokens: number;
  readonly delayMs: number;
  readonly retryAfterMs: number;
  readonly periodMs: number;
};

/** Who is struck: names of providers. */
export type FaultOrder = { readonly providers: readonly string[]; readonly fault: Fault };

const defaults = { afterTokens: 10, delayMs: 20_000, retryAfterMs: 2_000, periodMs: 5_000 };

const fields = [
  'provider',
  'fault',
  'for',
  'share',
  'model',
  'count',
  'after_tokens',
  'delay',
  'retry_after',
  'period',
];

/** A fault with the defaults of the rest. */
export function faultOfKind(kind: FaultKind, rest: Partial<Omit<Fault, 'kind'>> = {}): Fault {
  return { kind, forMs: null, share: 1, model: null, count: null, ...defaults, ...rest };
}

/** Reads the body of a fault order; the complaint names the field and what is allowed. */
export function parseFaultOrder(
  body: unknown,
  providerNames: readonly string[],
): Result<FaultOrder, string> {
  const allowedProviders = [...providerNames, 'all'].join(', ');
  const allowedKinds = faultKinds.join(', ');
  if (!isJsonObject(body)) return fail(`expected a JSON object with ${fields.join(', ')}`);
  const unknown = Object.keys(body).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    return fail(`unknown field "${unknown.slice(0, 40)}"; allowed: ${fields.join(', ')}`);
  const provider = body['provider'];
  const isKnown = provider === 'all' || providerNames.some((name) => name === provider);
  if (typeof provider !== 'string' || !isKnown)
    return fail(`provider: expected one of ${allowedProviders}`);
  const kind = faultKinds.find((one) => one === body['fault']);
  if (kind === undefined) return fail(`fault: expected one of ${allowedKinds}`);
  const settings = parseSettings(body);
  if (!settings.ok) return settings;
  const providers = provider === 'all' ? providerNames : [provider];
  return success({ providers, fault: faultOfKind(kind, settings.value) });
}

function parseSettings(body: JsonObject): Result<Omit<Fault, 'kind'>, string> {
  const durations = {
    for: null,
    delay: defaults.delayMs,
    retry_after: defaults.retryAfterMs,
    period: defaults.periodMs,
  };
  const ms: { [name: string]: number | null } = {};
  for (const [name, fallback] of Object.entries(durations)) {
    const given = body[name];
    const parsed = given === undefined ? fallback : parseDuration(given);
    if (given !== undefined && (parsed === null || (name === 'period' && parsed === 0))) {
      return fail(`${name}: expected a duration such as "250ms", "60s" or "5m"`);
    }
    ms[name] = parsed;
  }
  const share = body['share'] ?? 1;
  if (typeof share !== 'number' || !(share > 0 && share <= 1)) {
    return fail('share: expected a number above 0 and up to 1');
  }
  const model = body['model'] ?? null;
  if (model !== null && typeof model !== 'string')
    return fail('model: expected the name of a model');
  const count = body['count'] ?? null;
  if (count !== null && !isWhole(count, 1)) return fail('count: expected a whole number from 1 on');
  const afterTokens = body['after_tokens'] ?? defaults.afterTokens;
  if (!isWhole(afterTokens, 0)) return fail('after_tokens: expected a whole number from 0 on');
  return success({
    forMs: ms['for'] ?? null,
    share,
    model,
    count,
    afterTokens,
    delayMs: ms['delay'] ?? defaults.delayMs,
    retryAfterMs: ms['retry_after'] ?? defaults.retryAfterMs,
    periodMs: ms['period'] ?? defaults.periodMs,
  });
}

function isWhole(value: unknown, low: number): value is number {
  return (
    typeof value === 'number' && Number.isInteger(value) && value >= low && value <= 1_000_000_000
  );
}
