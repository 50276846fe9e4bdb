/** Turns as messages of content blocks. */

import { fail, type Result, success } from '../../base/result.ts';
import type {
  DocumentPart,
  ImagePart,
  MediaSource,
  TextPart,
  ToolMessage,
  UserPart,
} from '../../chat/request.ts';
import type { RequestFault } from '../dialect.ts';
import { unwritableName } from '../tool-names.ts';
import type { AssistantTurn, Turn, UserTurn } from '../turns.ts';
import { toolCallIds } from './tool-call-ids.ts';
import type { WireBlock, WireMediaBlock, WireMessage, WireSource, WireTextBlock } from './wire.ts';

/** Follows a last assistant turn where the model refuses to continue one. */
export const goOn: WireMessage = { role: 'user', content: [{ type: 'text', text: 'Continue.' }] };

export type MessageOptions = {
  readonly takesPrefill: boolean;
  /** Maps a tool's name; null when it cannot be written. */
  readonly toolName: (name: string) => string | null;
};

export function encodeMessages(
  turns: readonly Turn[],
  options: MessageOptions,
  dropped: Set<string>,
): Result<readonly WireMessage[], RequestFault> {
  const ids = toolCallIds();
  const messages: WireMessage[] = [];
  let callIds: readonly string[] = [];
  for (const turn of turns) {
    if (turn.role === 'user') {
      messages.push({ role: 'user', content: userBlocks(turn, callIds, dropped) });
      continue;
    }
    callIds = turn.calls.map((call) => ids.next(call.id));
    const content = assistantBlocks(turn, callIds, options);
    if (!content.ok) return content;
    messages.push({ role: 'assistant', content: content.value });
  }
  if (messages.at(-1)?.role === 'assistant') endWithAssistant(messages, options, dropped);
  return success(messages);
}

/** A last assistant turn is continued by the model, and may not end in white space. */
function endWithAssistant(
  messages: WireMessage[],
  { takesPrefill }: MessageOptions,
  dropped: Set<string>,
): void {
  if (!takesPrefill) {
    dropped.add('prefill');
    messages.push(goOn);
    return;
  }
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last === undefined || block?.type !== 'text') return;
  const trimmed = { ...block, text: block.text.trimEnd() };
  messages[messages.length - 1] = { ...last, content: [...last.content.slice(0, -1), trimmed] };
}

function userBlocks(
  turn: UserTurn,
  callIds: readonly string[],
  dropped: Set<string>,
): readonly WireBlock[] {
  const results = turn.results.map((result, index) =>
    toolResult(result, callIds[index] ?? '', dropped),
  );
  return [...results, ...mediaAndText(turn.parts, dropped)];
}

function toolResult(message: ToolMessage, callId: string, dropped: Set<string>): WireBlock {
  const content = mediaAndText(message.content, dropped);
  return {
    type: 'tool_result',
    tool_use_id: callId,
    ...(content.length > 0 ? { content } : {}),
    ...(message.isError ? { is_error: true } : {}),
  };
}

function mediaAndText(
  parts: readonly UserPart[],
  dropped: Set<string>,
): readonly (WireTextBlock | WireMediaBlock)[] {
  const blocks: (WireTextBlock | WireMediaBlock)[] = [];
  for (const part of parts) {
    if (part.type === 'text') {
      if (part.text.trim() !== '') blocks.push(textBlock(part, dropped));
    } else if (part.type === 'image') blocks.push(imageBlock(part, dropped));
    else if (part.type === 'document') blocks.push(documentBlock(part));
    else dropped.add('audio');
  }
  return blocks;
}

/** Cache marks are the client dialect's own: where they stand says nothing about the order of blocks here. */
export function textBlock(part: TextPart, dropped: Set<string>): WireTextBlock {
  if (part.cacheControl !== undefined) dropped.add('cache_control');
  return { type: 'text', text: part.text };
}

function imageBlock(part: ImagePart, dropped: Set<string>): WireMediaBlock {
  if (part.detail !== null && part.detail !== 'auto') dropped.add('detail');
  return { type: 'image', source: sourceOf(part.source) };
}

function documentBlock({ source, filename }: DocumentPart): WireMediaBlock {
  const title = filename === null ? {} : { title: filename };
  if (source.kind === 'base64' && source.mediaType.startsWith('text/')) {
    const data = Buffer.from(source.data, 'base64').toString('utf8');
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title };
  }
  return { type: 'document', source: sourceOf(source), ...title };
}

function sourceOf(source: MediaSource): WireSource {
  switch (source.kind) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      return { type: 'file', file_id: source.fileId };
  }
}

/** Thinking goes back as it was signed, where it stood. */
function assistantBlocks(
  turn: AssistantTurn,
  callIds: readonly string[],
  { toolName }: MessageOptions,
): Result<readonly WireBlock[], RequestFault> {
  const blocks: WireBlock[] = [];
  let calls = 0;
  for (const part of turn.parts) {
    if (part.type === 'text') blocks.push({ type: 'text', text: part.text });
    else if (part.type === 'reasoning') {
      if (part.redacted !== null) blocks.push({ type: 'redacted_thinking', data: part.redacted });
      else if (part.signature !== null) {
        blocks.push({ type: 'thinking', thinking: part.text, signature: part.signature });
      }
    } else {
      const name = toolName(part.name);
      if (name === null) return fail(unwritableName(part.name));
      blocks.push({ type: 'tool_use', id: callIds[calls] ?? '', name, input: part.input });
      calls += 1;
    }
  }
  return success(blocks);
}
