/** The failure that an answer would be, found by the code that judges the answers of attempts. */
import { parseJson } from '../base/json.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import { malformedResponse } from '../failure/attempt-failures.ts';
import { failureOfBreak, failureOfResponse, foreignReply, type Judge } from './failure-of.ts';
import { StreamTally } from './stream-tally.ts';

/** `headers` in lower case. */
export type JudgedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
};

/** Null: it is no failure but a whole answer of the dialect. Nothing is counted. */
export function judgeAnswer(
  provider: Judge,
  answer: JudgedAnswer,
  nowWallMs: number,
): AttemptFailure | null {
  const { status, headers, bytes } = answer;
  if (status < 200 || status > 299) {
    return failureOfResponse({ provider, response: { status, headers }, bytes, nowWallMs });
  }
  const tally = tallyOf(provider, bytes);
  if (tally.error !== null) {
    const cause = { why: 'error_event', ...tally.error } as const;
    return failureOfBreak({ provider, cause, headers, nowWallMs, afterMs: 0, isCommitted: false });
  }
  const isAnswer = tally.isFinished && tally.malformedEvents <= 1;
  return isAnswer ? null : malformedResponse(foreignReply, status);
}

/** JSON is read as a whole reply, anything else as a stream. */
function tallyOf({ dialect }: Judge, bytes: Buffer): StreamTally {
  const tally = new StreamTally(0);
  const decoder = dialect.streamDecoder({ eventBytesMax: bytes.length + 1 });
  const parts = parseJson(bytes.toString('utf8')).ok
    ? dialect.decodeReply(bytes)
    : [...decoder.push(bytes), ...decoder.end()];
  for (const part of parts) for (const event of part.events) tally.push(event, 0);
  return tally;
}
