/** A whole answer for a client of this dialect. */
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  objectAt,
  parseJson,
  stringAt,
} from '../../base/json.ts';
import type { ChatReply, ReplyChoice, ToolCall } from '../../chat/reply.ts';
import type { ChatRequest } from '../../chat/request.ts';
import type { AnswerMeta, OnOmitted } from '../dialect.ts';
import { parseToolArguments } from '../exact-json.ts';
import {
  applySplices,
  type JsonContainer,
  memberAt,
  type Splice,
  scanContainer,
  scanJson,
} from '../json-spans.ts';
import { annotationsOf } from '../reply-annotations.ts';
import { writeAnnotation } from './annotations.ts';
import { completionIdOf } from './completion-id.ts';
import { saysToolCalls, writeFinish } from './finish-reasons.ts';
import { logprobsOf } from './logprobs.ts';
import { writeUsage } from './usage.ts';
import type { WireToolCall } from './wire.ts';

/** `original` is the provider's own body in this dialect: kept, but for what had to be put right in it. */
export function encodeReply(input: {
  readonly reply: ChatReply;
  readonly original: Buffer | null;
  readonly fallbackId: string;
  readonly createdAtSeconds: number;
  readonly meta: (() => AnswerMeta) | null;
  readonly request?: ChatRequest;
  readonly onOmitted?: OnOmitted;
}): Buffer | string {
  const { reply, original, meta } = input;
  if (original === null) return JSON.stringify({ ...builtReply(input), ...metaField(meta) });
  const isToCheck = reply.choices.some(
    (choice) => choice.toolCalls.length > 0 || choice.reasoning.length > 0,
  );
  if (!isToCheck && meta === null) return original;
  const document = scanJson(original);
  if (document === null) return original;
  const splices = isToCheck ? corrections(original, document, reply) : [];
  if (meta !== null) splices.push(...metaSplices(document, meta()));
  return applySplices(original, splices);
}

function metaField(meta: (() => AnswerMeta) | null): JsonObject {
  return meta === null ? {} : { tiergate: meta() };
}

function metaSplices({ closeAt, members }: JsonContainer, meta: AnswerMeta): readonly Splice[] {
  const comma = members.length === 0 ? '' : ',';
  return [{ start: closeAt, end: closeAt, text: `${comma}"tiergate":${JSON.stringify(meta)}` }];
}

function builtReply(input: {
  readonly reply: ChatReply;
  readonly fallbackId: string;
  readonly createdAtSeconds: number;
  readonly request?: ChatRequest;
  readonly onOmitted?: OnOmitted;
}): JsonObject {
  const { reply } = input;
  const usage = writeUsage(reply.usage);
  return {
    id: completionIdOf(reply.id ?? input.fallbackId),
    object: 'chat.completion',
    created: input.createdAtSeconds,
    model: reply.model ?? '',
    choices: reply.choices.map((choice) => builtChoice(choice, input)),
    ...(usage === null ? {} : { usage }),
  };
}

function builtChoice(
  choice: ReplyChoice,
  { request, onOmitted }: { readonly request?: ChatRequest; readonly onOmitted?: OnOmitted },
): JsonObject {
  const annotations = annotationsOf(choice, writeAnnotation, onOmitted);
  const reasoning = reasoningOf(choice);
  const toolCalls = wholeCalls(choice);
  const isBare = choice.text === '' && (toolCalls.length > 0 || choice.refusal !== null);
  return {
    index: choice.index,
    message: {
      role: 'assistant',
      content: isBare ? null : choice.text,
      refusal: choice.refusal,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(wireCall) }),
      ...(annotations.length === 0 ? {} : { annotations }),
    },
    logprobs: logprobsOf(choice, request),
    finish_reason: choice.finish === null ? null : writeFinish(choice.finish, choice.rawFinish),
  };
}

/** A call that the output limit cut off is left out: the finish says that the answer is not whole. */
function wholeCalls({ toolCalls, finish }: ReplyChoice): readonly ToolCall[] {
  const last = toolCalls.at(-1);
  const isCut = finish === 'length' && !parseToolArguments(last?.arguments ?? '').ok;
  return isCut ? toolCalls.slice(0, -1) : toolCalls;
}

function reasoningOf(choice: ReplyChoice): string {
  return choice.reasoning.map((block) => block.text).join('');
}

function wireCall(call: ToolCall): WireToolCall {
  const called = { name: call.name, arguments: call.arguments === '' ? '{}' : call.arguments };
  return { id: call.id, type: 'function', function: called };
}

/** Splices for what servers of this dialect get wrong and clients trip over. */
function corrections(bytes: Buffer, document: JsonContainer, reply: ChatReply): Splice[] {
  const parsed = parseJson(bytes.toString('utf8'));
  const given = parsed.ok ? arrayAt(parsed.value, 'choices') : [];
  const choices = memberAt(document, 'choices');
  const elements = choices === null ? null : scanContainer(bytes, choices.valueStart);
  const splices: Splice[] = [];
  for (const [position, element] of (elements?.members ?? []).entries()) {
    const wire = given[position];
    if (!isJsonObject(wire)) continue;
    const index = typeof wire['index'] === 'number' ? wire['index'] : position;
    const choice = reply.choices.find((each) => each.index === index);
    const fields = scanContainer(bytes, element.valueStart);
    if (choice !== undefined && fields !== null) correct(bytes, fields, wire, choice, splices);
  }
  return splices;
}

function correct(
  bytes: Buffer,
  fields: JsonContainer,
  wire: JsonObject,
  choice: ReplyChoice,
  splices: Splice[],
): void {
  const finish = memberAt(fields, 'finish_reason');
  if (choice.finish === 'tool_calls' && finish !== null) {
    if (!saysToolCalls(stringAt(wire, 'finish_reason'))) {
      splices.push({ start: finish.valueStart, end: finish.end, text: '"tool_calls"' });
    }
  }
  const message = objectAt(wire, 'message');
  const member = memberAt(fields, 'message');
  const messageFields = member === null ? null : scanContainer(bytes, member.valueStart);
  if (message === null || messageFields === null) return;
  const calls = memberAt(messageFields, 'tool_calls');
  if (calls !== null && !areCallsPlain(message, choice)) {
    const text = JSON.stringify(choice.toolCalls.map(wireCall));
    splices.push({ start: calls.valueStart, end: calls.end, text });
  }
  const content = memberAt(messageFields, 'content');
  if (content === null || !Array.isArray(message['content'])) return;
  const reasoning = reasoningOf(choice);
  const extra = reasoning === '' ? '' : `,"reasoning_content":${JSON.stringify(reasoning)}`;
  const text = JSON.stringify(choice.text) + extra;
  splices.push({ start: content.valueStart, end: content.end, text });
}

function areCallsPlain(message: JsonObject, choice: ReplyChoice): boolean {
  const calls = arrayAt(message, 'tool_calls');
  if (calls.length !== choice.toolCalls.length) return false;
  return choice.toolCalls.every((call, position) => {
    const wire = calls[position];
    if (!isJsonObject(wire) || wire['id'] !== call.id) return false;
    if (wire['type'] === 'custom') return true;
    const called = objectAt(wire, 'function');
    return wire['type'] === 'function' && typeof called?.['arguments'] === 'string';
  });
}
