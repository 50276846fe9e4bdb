/** A whole answer for a client of this dialect. */
import type { JsonObject } from '../../base/json.ts';
import type { ChatReply, ReplyChoice } from '../../chat/reply.ts';
import type { ChatRequest } from '../../chat/request.ts';
import { withMeta } from '../answer-meta.ts';
import type { AnswerMeta } from '../dialect.ts';
import { callPart, finishFields } from './client-parts.ts';
import { CandidateLogprobs } from './logprobs.ts';
import { writeUsage } from './usage-tally.ts';

/** `original` is the provider's own body in this dialect: kept as it is. */
export function encodeReply(input: {
  readonly reply: ChatReply;
  readonly original: Buffer | null;
  readonly fallbackId: string;
  readonly meta: AnswerMeta | null;
  readonly request?: ChatRequest;
}): Buffer | string {
  const { original, meta } = input;
  if (original !== null) return withMeta(original, meta);
  return JSON.stringify({ ...builtReply(input), ...(meta === null ? {} : { tiergate: meta }) });
}

function builtReply({
  reply,
  fallbackId,
  request,
}: {
  readonly reply: ChatReply;
  readonly fallbackId: string;
  readonly request?: ChatRequest;
}): JsonObject {
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
    index: choice.index,
    ...logprobs.fields(tokens),
    ...logprobs.average(),
  };
}
