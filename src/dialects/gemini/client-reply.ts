/** A whole answer for a client of this dialect. */
import type { JsonObject } from '../../base/json.ts';
import type { ChatReply, ReplyChoice } from '../../chat/reply.ts';
import type { ChatRequest } from '../../chat/request.ts';
import { withMeta } from '../answer-meta.ts';
import type { AnswerMeta, OnOmitted } from '../dialect.ts';
import { TextOffsets } from '../text-offsets.ts';
import { Grounding } from './client-grounding.ts';
import { callPart, finishFields } from './client-parts.ts';
import { CandidateLogprobs } from './logprobs.ts';
import { writeUsage } from './usage-tally.ts';

/** `original` is the provider's own body in this dialect: kept as it is. */
export function encodeReply(input: {
  readonly reply: ChatReply;
  readonly original: Buffer | null;
  readonly fallbackId: string;
  readonly meta: (() => AnswerMeta) | null;
  readonly onOmitted?: OnOmitted;
  readonly request?: ChatRequest;
}): Buffer | string {
  const { original, meta } = input;
  if (original !== null) return withMeta(original, meta);
  return JSON.stringify({ ...builtReply(input), ...(meta === null ? {} : { tiergate: meta() }) });
}

function builtReply({
  reply,
  fallbackId,
  request,
  onOmitted,
}: {
  readonly reply: ChatReply;
  readonly fallbackId: string;
  readonly request?: ChatRequest;
  readonly onOmitted?: OnOmitted;
}): JsonObject {
  for (const { omitted = [] } of reply.choices) for (const name of omitted) onOmitted?.(name);
  const usage = writeUsage(reply.usage);
  const isHidden = request?.hidesThoughts === true;
  return {
    candidates: reply.choices.map((choice) =>
      builtCandidate(isHidden ? { ...choice, reasoning: [] } : choice, reply.model, request),
    ),
    ...(usage === null ? {} : { usageMetadata: usage }),
    modelVersion: reply.model ?? '',
    responseId: reply.id ?? fallbackId,
  };
}

function builtCandidate(
  choice: ReplyChoice,
  model: string | null,
  request: ChatRequest | undefined,
): JsonObject {
  const { finish, rawFinish } = choice;
  const parts: JsonObject[] = [];
  for (const { text } of choice.reasoning) if (text !== '') parts.push({ text, thought: true });
  const grounding = groundingOf(choice, parts.length);
  const text = choice.text + (choice.refusal ?? '');
  if (text !== '') parts.push({ text });
  let brokenCall: string | null = null;
  for (const call of choice.toolCalls) {
    const part = callPart(call, model);
    if (part === null) brokenCall ??= call.name;
    else parts.push(part);
  }
  const isRefused = choice.refusal !== null;
  const logprobs = new CandidateLogprobs(request);
  const tokens = [...(choice.logprobs ?? []), ...(choice.refusalLogprobs ?? [])];
  return {
    // Without a word the content has no parts at all, as the service writes it.
    content: parts.length === 0 ? { role: 'model' } : { parts, role: 'model' },
    ...(finish === null
      ? {}
      : finishFields({ reason: finish, raw: rawFinish, isRefused, brokenCall })),
    ...grounding,
    index: choice.index,
    ...logprobs.fields(tokens),
    ...logprobs.average(),
  };
}

/** `part`: the place of the text. */
function groundingOf({ text, citations = [] }: ReplyChoice, part: number): JsonObject {
  const grounding = new Grounding();
  for (const citation of citations) grounding.add(citation);
  const offsets = new TextOffsets();
  offsets.push(text);
  return grounding.fields(offsets, part);
}
