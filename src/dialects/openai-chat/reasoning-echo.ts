/**
 * Reasoning that a service wants back from clients of other dialects. It is not signed; what stands in a
 * signature's place names the service, so that no other is shown it.
 */
import type { AssistantMessage, AssistantPart } from '../../chat/request.ts';
import type { StreamPart } from '../../chat/stream-event.ts';
import type { UpstreamDialect } from '../dialect.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { dialectName, thinkingPart, type WireMessage } from './wire.ts';

/** The decoders of `dialect`, where each thought says that it is `service`'s. */
export function namingService(
  dialect: Pick<UpstreamDialect, 'decodeReply' | 'streamDecoder'>,
  service: string,
): Pick<UpstreamDialect, 'decodeReply' | 'streamDecoder'> {
  const named = (parts: readonly StreamPart[]) => parts.map((part) => withService(part, service));
  return {
    decodeReply: (body, asked) => named(dialect.decodeReply(body, asked)),
    streamDecoder: (options) => {
      const decoder = dialect.streamDecoder(options);
      return {
        push: (bytes) => named(decoder.push(bytes)),
        end: () => named(decoder.end()),
      };
    },
  };
}

function withService(part: StreamPart, service: string): StreamPart {
  if (!part.events.some(({ type }) => type === 'reasoning_end')) return part;
  const events = part.events.map((event) =>
    event.type === 'reasoning_end' ? { ...event, signature: service, dialect: dialectName } : event,
  );
  return { ...part, events };
}

/** Whether the part is reasoning that goes back with its turn. */
export function isEchoed(
  part: AssistantPart,
  { content }: AssistantMessage,
  { messages }: ChatQuirks,
): boolean {
  const echo = messages?.echo;
  if (part.type !== 'reasoning' || echo?.service === undefined) return false;
  if (part.dialect !== dialectName || part.signature !== echo.service) return false;
  return !echo.isForCallsAlone || content.some(({ type }) => type === 'tool_call');
}

/** `turn` with what it was reasoned with, in the service's own form. */
export function withEcho(
  turn: WireMessage,
  message: AssistantMessage,
  quirks: ChatQuirks,
): WireMessage {
  const place = quirks.messages?.echo?.place;
  const text = message.content
    .filter((part) => part.type === 'reasoning' && isEchoed(part, message, quirks))
    .map((part) => (part.type === 'reasoning' ? part.text : ''))
    .join('');
  if (place === undefined || text === '') return turn;
  if (place !== thinkingPart) return { ...turn, [place]: text };
  const said = typeof turn.content === 'string' && turn.content !== '' ? turn.content : null;
  const thought = { type: thinkingPart, [thinkingPart]: [{ type: 'text', text }] };
  return { ...turn, content: [thought, ...(said === null ? [] : [{ type: 'text', text: said }])] };
}
