/**
 * A conversation as turns that alternate, for dialects that take system text only at the top and
 * want all results of a turn's calls, and nothing before them, in the turn after it.
 */
import { append } from '../base/append.ts';
import type { JsonObject } from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';
import type {
  AssistantMessage,
  CacheMarked,
  DialectName,
  Message,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolMessage,
  UserPart,
} from '../chat/request.ts';
import type { RequestFault } from './dialect.ts';
import { parseToolArguments } from './exact-json.ts';

/** A call whose arguments were found to be an object. */
export type TurnCall = CacheMarked & {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
};

export type AssistantTurn = {
  readonly role: 'assistant';
  /** No blank text; refusals have become text. */
  readonly parts: readonly (TextPart | ReasoningPart | TurnCall)[];
  readonly calls: readonly TurnCall[];
};

export type UserTurn = {
  readonly role: 'user';
  /** One for each call of the turn before, in the order of those calls. */
  readonly results: readonly ToolMessage[];
  /** No blank text. */
  readonly parts: readonly UserPart[];
};

export type Turn = AssistantTurn | UserTurn;

export type Conversation = {
  /** The leading system blocks, without blank ones. */
  readonly system: readonly TextPart[];
  /** Begins with a user turn, alternates, and no turn is empty. */
  readonly turns: readonly Turn[];
  /** Whether a message had a speaker's name, which turns cannot hold. */
  readonly hasNames: boolean;
  /** Whether reasoning was left out: it is private to the vendor that made it. */
  readonly lostReasoning: boolean;
};

/** Stands where a conversation would begin with the model's turn, or with none at all. */
export const openingText = '(start of conversation)';

type AssistantDraft = {
  role: 'assistant';
  parts: (TextPart | ReasoningPart | TurnCall)[];
  calls: TurnCall[];
  messageIndex: number;
};
type UserDraft = {
  role: 'user';
  answers: { message: ToolMessage; index: number }[];
  parts: UserPart[];
};
type Draft = AssistantDraft | UserDraft;

/**
 * A system message after the first other message becomes marked user text where it stands: the
 * prefix before it stays the same from call to call, so caches go on to hit. Of an assistant's
 * reasoning only what `dialect` itself signed stays: the rest is private to the vendor that made it.
 */
export function arrangeTurns(
  messages: readonly Message[],
  dialect: DialectName,
): Result<Conversation, RequestFault> {
  const system: TextPart[] = [];
  const drafts: Draft[] = [];
  let hasNames = false;
  let lostReasoning = false;
  let isLeading = true;
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system' && isLeading) {
      append(system, message.content.filter(isFilled));
      continue;
    }
    isLeading = false;
    if (message.role === 'user' && message.name !== null) hasNames = true;
    const own = ownReasoning(message, dialect);
    if (own.content.length < message.content.length) lostReasoning = true;
    const fault = addMessage(drafts, own, index);
    if (fault !== null) return fail(fault);
  }
  const turns = pairResults(drafts);
  if (!turns.ok) return turns;
  return success({ system, turns: turns.value, hasNames, lostReasoning });
}

function isFilled(part: { readonly type: string; readonly text?: string }): boolean {
  return part.type !== 'text' || (part.text ?? '').trim() !== '';
}

function ownReasoning(message: Message, dialect: DialectName): Message {
  if (message.role !== 'assistant') return message;
  const content = message.content.filter(
    (part) => part.type !== 'reasoning' || isOwn(part, dialect),
  );
  return { ...message, content };
}

function isOwn(part: ReasoningPart, dialect: DialectName): boolean {
  return part.dialect === dialect && (part.signature !== null || part.redacted !== null);
}

function addMessage(drafts: Draft[], message: Message, index: number): RequestFault | null {
  switch (message.role) {
    case 'system': {
      const text = message.content.map((part) => part.text).join('\n');
      if (text.trim() === '') return null;
      const cacheControl = message.content.at(-1)?.cacheControl;
      const mark = cacheControl === undefined ? {} : { cacheControl };
      userDraft(drafts).parts.push({ type: 'text', text: `<system>\n${text}\n</system>`, ...mark });
      return null;
    }
    case 'user': {
      const parts = message.content.filter(isFilled);
      if (parts.length > 0) append(userDraft(drafts).parts, parts);
      return null;
    }
    case 'tool':
      userDraft(drafts).answers.push({ message, index });
      return null;
    case 'assistant':
      return addAssistant(drafts, message, index);
  }
}

function userDraft(drafts: Draft[]): UserDraft {
  const last = drafts.at(-1);
  if (last?.role === 'user') return last;
  const made: UserDraft = { role: 'user', answers: [], parts: [] };
  drafts.push(made);
  return made;
}

function addAssistant(
  drafts: Draft[],
  message: AssistantMessage,
  messageIndex: number,
): RequestFault | null {
  const parts: AssistantDraft['parts'] = [];
  const calls: TurnCall[] = [];
  for (const part of message.content) {
    if (part.type === 'tool_call') {
      const call = readCall(part, messageIndex);
      if (!call.ok) return call.fault;
      parts.push(call.value);
      calls.push(call.value);
    } else if (part.type === 'refusal') {
      if (part.text.trim() !== '') parts.push({ type: 'text', text: part.text });
    } else if (part.type === 'reasoning' || isFilled(part)) {
      parts.push(part);
    }
  }
  if (parts.length === 0) return null;
  const last = drafts.at(-1);
  if (last?.role === 'assistant') {
    append(last.parts, parts);
    append(last.calls, calls);
    last.messageIndex = messageIndex;
  } else {
    drafts.push({ role: 'assistant', parts, calls, messageIndex });
  }
  return null;
}

function readCall(part: ToolCallPart, messageIndex: number): Result<TurnCall, RequestFault> {
  const input = parseToolArguments(part.arguments);
  if (!input.ok) {
    const message = `The arguments of the earlier tool call "${cut(part.id)}" (${cut(part.name)}) are no JSON object, and this target takes nothing else: ${input.fault}.`;
    return fail({ message, param: `messages[${messageIndex}]` });
  }
  const { id, name, cacheControl } = part;
  const mark = cacheControl === undefined ? {} : { cacheControl };
  return success({ type: 'call', id, name, input: input.value, ...mark });
}

function pairResults(drafts: readonly Draft[]): Result<readonly Turn[], RequestFault> {
  const turns: Turn[] = [];
  let asked: AssistantDraft | null = null;
  for (const draft of drafts) {
    if (draft.role === 'assistant') {
      if (turns.length === 0) turns.push(openingTurn());
      turns.push({ role: 'assistant', parts: draft.parts, calls: draft.calls });
      asked = draft;
      continue;
    }
    const results = resultsFor(asked, draft.answers);
    if (!results.ok) return results;
    turns.push({ role: 'user', results: results.value, parts: draft.parts });
    asked = null;
  }
  const unanswered = resultsFor(asked, []);
  if (!unanswered.ok) return unanswered;
  if (turns.length === 0) turns.push(openingTurn());
  return success(turns);
}

function openingTurn(): UserTurn {
  return { role: 'user', results: [], parts: [{ type: 'text', text: openingText }] };
}

/** Matches by id; where an id occurs twice in a turn, in order. */
function resultsFor(
  asked: AssistantDraft | null,
  answers: UserDraft['answers'],
): Result<readonly ToolMessage[], RequestFault> {
  const byId = new Map<string, UserDraft['answers']>();
  for (const answer of answers) {
    const same = byId.get(answer.message.toolCallId);
    if (same === undefined) byId.set(answer.message.toolCallId, [answer]);
    else same.push(answer);
  }
  const results: ToolMessage[] = [];
  for (const call of asked?.calls ?? []) {
    const answer = byId.get(call.id)?.shift();
    if (answer === undefined) return fail(missingResult(call, asked?.messageIndex ?? 0));
    results.push(answer.message);
  }
  if (results.length === answers.length) return success(results);
  const left = [...byId.values()].flat().sort((one, other) => one.index - other.index)[0];
  return fail({
    message: `The tool message for "${cut(left?.message.toolCallId ?? '')}" answers no tool call of the assistant turn before it.`,
    param: `messages[${left?.index ?? 0}]`,
  });
}

function missingResult(call: TurnCall, messageIndex: number): RequestFault {
  return {
    message: `The tool call "${cut(call.id)}" (${cut(call.name)}) has no result: a tool message with this tool_call_id must follow it.`,
    param: `messages[${messageIndex}]`,
  };
}

/** Ids may hold signatures of several kilobytes. */
function cut(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
