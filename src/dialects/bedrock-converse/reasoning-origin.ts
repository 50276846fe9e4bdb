/** Reasoning that goes back: only what the model that is asked has signed itself. */
import type { AssistantPart, Message, ReasoningPart } from '../../chat/request.ts';
import { isSameModel, modelInSignature } from '../claude-signature.ts';
import type { UpstreamCall } from '../dialect.ts';
import { dialectName } from './wire.ts';

/** The messages without what another model reasoned; the very same list when there was nothing of that. */
export function ownReasoning(call: UpstreamCall): readonly Message[] {
  const { messages } = call.request;
  const isForeign = (part: AssistantPart): boolean =>
    part.type === 'reasoning' && !isOwn(part, call);
  const isMixed = messages.some(
    (message) => message.role === 'assistant' && message.content.some(isForeign),
  );
  if (!isMixed) return messages;
  return messages.map((message) =>
    message.role === 'assistant'
      ? { ...message, content: message.content.filter((part) => !isForeign(part)) }
      : message,
  );
}

function isOwn(part: ReasoningPart, call: UpstreamCall): boolean {
  if (part.dialect !== dialectName) return false;
  const maker = makerOf(part) ?? call.usualModel ?? call.model;
  return maker === call.model || isSameModel(maker, call.model);
}

function makerOf({ signature, model }: ReasoningPart): string | null {
  return (signature === null ? null : modelInSignature(signature)) ?? model ?? null;
}
