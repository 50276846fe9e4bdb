/** Whether a client of a dialect is told what an answer says, whole and streamed. */
import { type ReplyChoice, ReplyCollector } from '../../../src/chat/reply.ts';
import type { StreamPart } from '../../../src/chat/stream-event.ts';
import type { ClientDialect } from '../../../src/dialects/dialect.ts';
import { type Told, toldReaders } from '../told-clients.ts';

export const encoderOptions = {
  includeUsage: true,
  fallbackId: 'own',
  createdAtSeconds: 1,
  meta: null,
} as const;

/** `parts`: of an answer that has its end. `stream`: as it was told of them; null = it was not. */
export function contentFault(
  dialect: ClientDialect,
  { stream, parts }: { readonly stream: string | null; readonly parts: readonly StreamPart[] },
): string | null {
  const reader = toldReaders[dialect.name];
  if (reader === undefined) throw new Error(`no reader of ${dialect.name}`);
  const collector = new ReplyCollector();
  for (const event of parts.flatMap(({ events }) => events)) collector.push(event);
  const reply = collector.reply();
  const choice = reply.choices.find(({ index }) => index === 0);
  const whole = dialect.encodeReply({ ...encoderOptions, reply, original: null }).toString();
  const readings = { whole: reader.whole(whole) };
  const all = stream === null ? readings : { ...readings, stream: reader.stream(stream) };
  for (const [how, said] of Object.entries(all)) {
    const fault = saidFault(said, choice);
    if (fault !== null) return `${how}: ${fault}`;
  }
  return null;
}

function saidFault(said: Told, choice: ReplyChoice | undefined): string | null {
  // A refusal may have come between two texts: a whole answer has a place of its own for it.
  const text = lettersOf((choice?.text ?? '') + (choice?.refusal ?? ''));
  if (lettersOf(said.text) !== text) return `said ${JSON.stringify([said.text, text])}`;
  const calls = choice?.toolCalls.length ?? 0;
  // What no object can be made of has no place in some dialects: the finish says so, or that it was cut.
  const mayMiss = said.finish.includes('MALFORMED') || choice?.finish === 'length' ? calls : 0;
  const missing = calls - said.calls.length;
  return missing < 0 || missing > mayMiss ? `${said.calls.length} calls of ${calls}` : null;
}

function lettersOf(text: string): string {
  return [...text].toSorted().join('');
}
