/** Ids of items that the gateway makes itself, for answers of other dialects: nobody keeps anything under them. */
import { createHash } from 'node:crypto';

/** What stands behind the prefix that tells an item's type. */
const ownMark = 'tg_';

const prefixes = { message: 'msg_', reasoning: 'rs_', function_call: 'fc_' } as const;

/** The vendor refuses ids of more than 64 characters. */
export function ownItemId(
  type: keyof typeof prefixes,
  responseId: string,
  outputIndex: number,
): string {
  const digest = createHash('sha256').update(responseId).digest('hex').slice(0, 32);
  return `${prefixes[type]}${ownMark}${digest}_${outputIndex}`;
}

export function isOwnItemId(id: string): boolean {
  return Object.values(prefixes).some((prefix) => id.startsWith(prefix + ownMark));
}

export function isReasoningId(id: string): boolean {
  return id.startsWith(prefixes.reasoning);
}

const responsePrefix = 'resp_';

export function responseIdOf(id: string): string {
  return id.startsWith(responsePrefix) ? id : responsePrefix + id;
}
