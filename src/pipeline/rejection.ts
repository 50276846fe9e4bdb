/** Failures of a request that no provider was asked about. */
import type { RequestFault } from '../dialects/dialect.ts';
import type { FailureClass, RequestFailure } from '../failure/request-failure.ts';
import { repeatAdvice } from '../failure/summary.ts';

export type Rejection = Pick<
  RequestFailure,
  'failureClass' | 'status' | 'message' | 'param' | 'retryAfterMs' | 'details'
>;

function rejection(
  failureClass: FailureClass,
  status: number,
  message: string,
  param: string | null = null,
): Rejection {
  return { failureClass, status, message, param, retryAfterMs: null };
}

export function invalidRequest(fault: RequestFault): Rejection {
  const { message, param, details } = fault;
  const rejected = rejection('invalid_request', 400, message, param);
  return details === undefined ? rejected : { ...rejected, details };
}

const namesShownMax = 50;

export function unknownTier(name: string, known: readonly string[]): Rejection {
  const shown = known.slice(0, namesShownMax).join(', ');
  const asked =
    name === '' ? 'No tier is named' : `There is no tier ${JSON.stringify(name.slice(0, 128))}`;
  return rejection('unknown_tier', 404, `${asked}: set \`model\` to one of ${shown}`, 'model');
}

export function variablesMissing(faults: readonly string[]): Rejection {
  return rejection('invalid_request', 400, faults.join('; '), 'tiergate.variables');
}

export function unknownPin(pin: string, known: readonly string[]): Rejection {
  const message = `x-tiergate-pin names ${JSON.stringify(pin.slice(0, 128))}, which is no target of this tier: it has ${known.join(', ')}`;
  return rejection('invalid_request', 400, message, 'x-tiergate-pin');
}

/** Nobody is known to keep it: no other account may be asked, and this one is not known. */
export function responseNotFound(id: string): Rejection {
  const message = `Previous response with id ${JSON.stringify(id.slice(0, 128))} not found: it was not stored, is older than 30 days, or was not made through this gateway. Send the conversation itself, or set store: true on the request that begins it`;
  return rejection('invalid_request', 400, message, 'previous_response_id');
}

/** An operator must bring it back: no SDK is told to try again at once. */
export function accountGone(target: string, tier: string): Rejection {
  const message = `What this request goes on with is kept by the account that ${target} had then, and tier ${JSON.stringify(tier)} does not have it now. No other account can serve it: send the conversation itself`;
  return { ...rejection('no_target_available', 503, message), retryAfterMs: 300_000 };
}

export function originsUnknown(): Rejection {
  const message =
    'Which account keeps what this request goes on with cannot be looked up now: the database cannot be read';
  return { ...rejection('no_target_available', 503, message), retryAfterMs: 1000 };
}

export function internalFault(): Rejection {
  return rejection(
    'internal',
    500,
    'The gateway failed on this request; the operator has been told',
  );
}

/** `log.on_failure: refuse`: an answer that cannot be logged is not given. */
export function logUnavailable(): Rejection {
  const message = 'The served-by log cannot be written, and this gateway answers nothing unlogged';
  return { ...rejection('no_target_available', 503, message), retryAfterMs: 1000 };
}

/** What a client was told about a request that failed, and about which one. */
export type ToldFailure = Rejection & Pick<RequestFailure, 'requestId'>;

/** The same failure for a repeat that comes before its wait is over; `leftMs` > 0. */
export function toldAgain(told: ToldFailure, leftMs: number): Rejection {
  const { failureClass, status, param, requestId, retryAfterMs } = told;
  const before = retryAfterMs === null ? '' : repeatAdvice(retryAfterMs);
  const now = `Nobody was asked again: the wait that request ${requestId} was told still runs. ${repeatAdvice(leftMs)}`;
  const message = told.message.replace(before, () => now);
  return { failureClass, status, message, param, retryAfterMs: Math.ceil(leftMs) };
}
