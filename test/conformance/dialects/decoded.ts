/** What an upstream dialect makes of a body, told in the words of the recorded fixtures' index. */
import { createHash } from 'node:crypto';
import type { Citation, OmittedContent } from '../../../src/chat/citation.ts';
import { ReplyCollector } from '../../../src/chat/reply.ts';
import type { ChatEvent, StreamPart } from '../../../src/chat/stream-event.ts';
import type { Usage } from '../../../src/chat/usage.ts';
import type { UpstreamDialect } from '../../../src/dialects/dialect.ts';
import type { ErrorClass } from '../../../src/failure/attempt-failure.ts';
import { classify } from '../../../src/failure/classify.ts';

export const eventBytesMax = 16 * 1024 * 1024;

export type Decoded = {
  readonly events: readonly ChatEvent[];
  readonly text: string;
  readonly refusal: string | null;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly args: unknown }[];
  readonly citations: readonly Citation[];
  readonly omitted: readonly OmittedContent[];
  readonly finish: string | null;
  readonly usage: Usage;
  readonly error: Extract<ChatEvent, { type: 'error' }> | null;
  readonly malformed: number;
  readonly hasEnded: boolean;
};

export function decodeStream(dialect: UpstreamDialect, pieces: readonly Buffer[]): Decoded {
  return told(streamParts(dialect, pieces));
}

export function streamParts(
  dialect: UpstreamDialect,
  pieces: readonly Buffer[],
): readonly StreamPart[] {
  const decoder = dialect.streamDecoder({ eventBytesMax });
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
}

export function decodeWhole(dialect: UpstreamDialect, body: Buffer): Decoded {
  return told(dialect.decodeReply(body));
}

function told(parts: readonly StreamPart[]): Decoded {
  const events = parts.flatMap((part) => part.events);
  const collector = new ReplyCollector();
  for (const event of events) collector.push(event);
  const reply = collector.reply();
  const choice = reply.choices.find(({ index }) => index === 0);
  return {
    events,
    text: choice?.text ?? '',
    refusal: choice?.refusal ?? null,
    reasoning: choice?.reasoning.map((block) => block.text).join('') ?? '',
    toolCalls: (choice?.toolCalls ?? []).map(({ name, arguments: text }) => ({
      name,
      args: argumentsOf(text),
    })),
    citations: choice?.citations ?? [],
    omitted: choice?.omitted ?? [],
    finish: choice?.finish ?? null,
    usage: reply.usage,
    error: events.find((event) => event.type === 'error') ?? null,
    malformed: events.filter((event) => event.type === 'malformed').length,
    hasEnded: events.some((event) => event.type === 'end'),
  };
}

function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return text;
  }
}

/** The class that the dialect's rules and the shared judge give to an error answer. */
export function classOf(
  dialect: UpstreamDialect,
  answer: {
    readonly status: number | null;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  },
): ErrorClass {
  return classify({
    facts: dialect.readError(answer),
    isJson: typeof answer.body !== 'string',
    body: answer.body,
    headers: answer.headers,
    rules: dialect.rules,
    operatorRules: [],
    hints: dialect.hints,
    nowWallMs: Date.UTC(2026, 10, 30),
  }).errorClass;
}

/**
 * The class of an answer that came with a 200 and is none: what its error says, `malformed_response`
 * for a body of no dialect, `stream_interrupted` for a stream without a finish; null = an answer.
 */
export function classOfAnswer(dialect: UpstreamDialect, decoded: Decoded): ErrorClass | null {
  if (decoded.error !== null) {
    const { status, body } = decoded.error;
    return classOf(dialect, { status, headers: {}, body });
  }
  if (decoded.finish !== null) return decoded.finish === 'error' ? 'malformed_response' : null;
  return decoded.malformed > 0 ? 'malformed_response' : 'stream_interrupted';
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The parts of `bytes`, each of `size` bytes but the last. */
export function cutEvery(bytes: Buffer, size: number): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

/** The places within `distance` bytes of a line end, at most `countMax` of them, evenly chosen. */
export function placesNearLineEnds(bytes: Buffer, distance: number, countMax: number): number[] {
  const places = new Set<number>();
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== 0x0a && bytes[at] !== 0x0d) continue;
    for (let place = at - distance; place <= at + distance; place += 1) {
      if (place > 0 && place < bytes.length) places.add(place);
    }
  }
  const all = [...places];
  const step = Math.max(1, Math.ceil(all.length / countMax));
  return all.filter((_, index) => index % step === 0);
}
