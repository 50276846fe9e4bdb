/** What providers' words mean when no machine field says it: the last resort before the status. */
import type { AttemptFailure, ErrorClass } from './attempt-failure.ts';

export type MessagePattern = { readonly errorClass: ErrorClass; readonly pattern: RegExp };

/** In this order: a bill unpaid is often worded as a limit, and an overload as a limit too. */
export const messagePatterns: readonly MessagePattern[] = [
  {
    errorClass: 'quota_exhausted',
    pattern:
      /too many tokens per day|insufficient[_ ](?:quota|balance|funds|credits)|credit balance|billing (?:hard )?limit|spend(?:ing)? limit|out of credits|no credits|(?:any|all available) credits|requires more credits|credits are depleted|purchase (?:more )?credits|arrear/i,
  },
  {
    errorClass: 'overload',
    pattern:
      /overload|high demand|no capacity|capacity (?:exceeded|exhausted)|at capacity|too busy|server busy/i,
  },
  {
    errorClass: 'context_length',
    pattern:
      /context[_ ]length|context window|context size|maximum context|maximum prompt length|exceed n_ctx|prompt is too long|prompt too long|too many (?:prompt )?tokens(?!, please wait| per| for)|(?:input|messages?) (?:is |are )?too long|exceeds? the (?:maximum )?(?:number of tokens|token limit|context)|input tokens exceeded|reduce the length|request too large/i,
  },
  {
    errorClass: 'auth',
    pattern:
      /(?:incorrect|invalid|missing|expired).{0,24}(?:api[ _-]?key|x-api-key|token(?!s)|credentials|subscription key|authentication)|api key not valid|security token included in the request is (?:invalid|expired)|unauthori[sz]ed|authentication fails/i,
  },
  {
    errorClass: 'content_policy',
    pattern:
      /content (?:management|filter|policy)|safety (?:system|policy)|flagged|usage policies|responsibleai/i,
  },
  {
    errorClass: 'not_found',
    pattern:
      /(?:model|deployment).{0,80}(?:does not exist|not found|not exist|no longer available|deprecated|was removed|end of (?:its )?life|decommissioned)|model identifier is invalid|unknown model|invalid model/i,
  },
];

const count = '~?(?<COUNT>\\d{1,3}(?:,\\d{3}){1,4}|\\d{1,12})';
const requested = count.replace('COUNT', 'requested');
const limit = count.replace('COUNT', 'limit');

/** How providers name the size of a prompt and the size that they take. */
const tokenCounts: readonly RegExp[] = [
  new RegExp(`\\blimit:? ${limit}\\b.{0,60}\\brequested:? ${requested}\\b`, 'i'),
  new RegExp(`\\brequested:? ${requested}\\b.{0,60}\\blimit:? ${limit}\\b`, 'i'),
  new RegExp(`too long: ${requested} tokens > ${limit}`, 'i'),
  new RegExp(`token count \\(${requested}\\) exceeds .{0,60}\\(${limit}\\)`, 'i'),
  new RegExp(
    `length is ${limit}(?: tokens)?\\b.{0,60}\\brequested (?:about )?${requested} tokens`,
    'i',
  ),
  new RegExp(`length is ${limit} but the request contains ${requested} tokens`, 'i'),
  new RegExp(`contains ${requested} tokens .{0,80}with ${limit} maximum`, 'i'),
  new RegExp(`length is ${limit} tokens`, 'i'),
];

/** The prompt's size and the window as `message` tells them, or null. */
export function readTokenCounts(message: string): AttemptFailure['tokens'] {
  for (const form of tokenCounts) {
    const groups = form.exec(message)?.groups;
    if (groups === undefined) continue;
    return { requested: numberOf(groups['requested']), limit: numberOf(groups['limit']) };
  }
  return null;
}

function numberOf(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits.replaceAll(',', ''));
}

/** One request alone asks for more than a limit ever allows: waiting cannot help. */
export function exceedsLimitAlone(message: string): boolean {
  const tokens = readTokenCounts(message);
  if (tokens === null || tokens.requested === null || tokens.limit === null) return false;
  return tokens.requested > tokens.limit;
}

const inputLimit = new RegExp(`input_token_count, limit: ${limit}\\b`, 'i');

/** The input tokens that a limit allows, where `message` says that it is one of input tokens; else null. */
export function readInputLimit(message: string): number | null {
  return numberOf(inputLimit.exec(message)?.groups?.['limit']);
}
