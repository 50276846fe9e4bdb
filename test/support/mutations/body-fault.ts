/** A whole body of any bytes from a provider to a client of each dialect: what is wrong with what came of it. */
import { parseJson } from '../../../src/base/json.ts';
import type { Random } from '../../../src/base/random.ts';
import { ReplyCollector } from '../../../src/chat/reply.ts';
import { parseAnswer } from '../../../src/dialects/answer-json.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { judgeAnswer } from '../../../src/engine/judge-answer.ts';
import { orderFaults } from '../decoder-properties.ts';
import { below, isChosen, pick } from '../schedule-draws.ts';
import { contentFault, encoderOptions } from './content-fault.ts';
import { mutatedJson } from './mutate-json.ts';
import { withByteChange } from './mutate-stream.ts';
import { corpora } from './stream-corpus.ts';

/** One of the dialect's bodies, or its errors, changed in up to four ways. */
export function mutatedAnswer(dialect: string, random: Random): Buffer {
  const all = corpora.get(dialect)?.bodies ?? [];
  let bytes = all[below(random, all.length)]?.bytes ?? Buffer.alloc(0);
  for (let left = 1 + below(random, 4); left > 0; left -= 1) {
    const parsed = parseAnswer(bytes.toString());
    if (!parsed.ok || bytes.length > 100_000 || isChosen(random, 0.1)) {
      bytes = withByteChange(bytes, random);
    } else bytes = Buffer.from(mutatedJson(parsed.value, random));
  }
  return bytes;
}

/** Null: it is an answer and is told as what it is, or it is a failure with a class. */
export function bodyFault(name: string, bytes: Buffer, random: Random): string | null {
  try {
    return faultOf(name, bytes, random);
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

function faultOf(name: string, bytes: Buffer, random: Random): string | null {
  const dialect = upstreamDialects.get(name);
  if (dialect === undefined) throw new Error(`no ${name}`);
  const provider = { dialect, operatorRules: [] };
  const status = pick(random, [400, 401, 404, 429, 500, 503, 529]);
  if (judgeAnswer(provider, { status, headers: {}, bytes }, 0) === null) return 'an error is none';
  const parts = dialect.decodeReply(bytes);
  const events = parts.flatMap((part) => part.events);
  const [disorder] = orderFaults(events);
  if (disorder !== undefined) return disorder;
  if (!parseJson(bytes.toString()).ok) return isAnswer(events) ? 'no JSON is an answer' : null;
  if (judgeAnswer(provider, { status: 200, headers: {}, bytes }, 0) !== null) return null;
  for (const client of clientDialects.values()) {
    const fault =
      contentFault(client, { stream: null, parts }) ?? ownFault(client.name, name, bytes);
    if (fault !== null) return `to ${client.name}: ${fault}`;
  }
  return null;
}

function isAnswer(events: readonly { readonly type: string }[]): boolean {
  return events.some(({ type }) => type === 'finish');
}

/** A client of the provider's own dialect gets the very body, with what the gateway adds where it is asked to. */
function ownFault(client: string, upstream: string, bytes: Buffer): string | null {
  const dialect = clientDialects.get(client);
  const parts = upstreamDialects.get(upstream)?.decodeReply(bytes) ?? [];
  if (dialect === undefined || client !== upstream) return null;
  const collector = new ReplyCollector();
  for (const event of parts.flatMap(({ events }) => events)) collector.push(event);
  const reply = collector.reply();
  for (const meta of [null, { tier: 'fast' }]) {
    const told = dialect.encodeReply({
      ...encoderOptions,
      reply,
      original: bytes,
      meta: meta && (() => meta),
    });
    if (!parseJson(told.toString()).ok) return 'no JSON is told';
  }
  return null;
}
