/** A canonical conversation as this dialect's messages: results straight after their calls, media of a result after all of them. */
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type {
  AssistantMessage,
  AudioPart,
  DocumentPart,
  ImagePart,
  MediaSource,
  Message,
  ToolMessage,
  UserPart,
} from '../../chat/request.ts';
import type { RequestFault } from '../dialect.ts';
import { unwritableName } from '../tool-names.ts';
import { ToolResults } from '../tool-results.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { toolName } from './encode-tools.ts';
import { withEcho } from './reasoning-echo.ts';
import { madeToolCallId, sendableToolCallId } from './tool-call-ids.ts';
import type { WireMessage, WireToolCall } from './wire.ts';

type Media = ImagePart | DocumentPart | AudioPart;

/** The fault names a call whose result is missing, or a part that has no form here. */
export function encodeMessages(
  messages: readonly Message[],
  quirks: ChatQuirks,
): Result<readonly WireMessage[], RequestFault> {
  const written: WireMessage[] = [];
  const toolResults = new ToolResults(messages);
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'system':
        written.push({ role: 'system', content: joined(message.content) });
        break;
      case 'user': {
        const content = userContent(message.content, index);
        if (!content.ok) return content;
        const name = message.name === null ? {} : { name: message.name };
        written.push({ role: 'user', content: content.value, ...name });
        break;
      }
      case 'assistant': {
        const turn = encodeAssistant(message, quirks);
        if (!turn.ok) return turn;
        written.push(turn.value);
        const results = toolResults.take(index);
        if (!results.ok) return results;
        const ids = (turn.value.tool_calls ?? []).map(({ id }) => id);
        const fault = addResults(results.value, { ids, index }, written);
        if (fault !== null) return fail(fault);
        break;
      }
      case 'tool': {
        // Already written behind its call; one that answers no call has nothing to stand behind.
        const fault = toolResults.faultOf(message, index);
        if (fault !== null) return fail(fault);
        break;
      }
    }
  }
  return success(written);
}

function joined(parts: readonly { readonly text: string }[]): string {
  return parts.map((part) => part.text).join('\n\n');
}

/** Reasoning is private to the vendor that made it, and goes back to nobody else. */
function encodeAssistant(
  message: AssistantMessage,
  quirks: ChatQuirks,
): Result<WireMessage, RequestFault> {
  let text = '';
  let refusal = '';
  const calls: WireToolCall[] = [];
  const ids = new Set<string>();
  for (const [index, part] of message.content.entries()) {
    // Parts in a row are one text; what stood apart has to be told apart.
    const isApart = text !== '' && message.content[index - 1]?.type !== 'text';
    if (part.type === 'text' && part.text !== '') text += isApart ? `\n\n${part.text}` : part.text;
    if (part.type === 'refusal') refusal += part.text;
    if (part.type !== 'tool_call') continue;
    const name = toolName(part.name, quirks);
    if (name === null) return fail(unwritableName(part.name));
    const called = { name, arguments: part.arguments === '' ? '{}' : part.arguments };
    const id = idBeside(ids, part.id);
    ids.add(id);
    calls.push({ id, type: 'function', function: called });
  }
  const turn: WireMessage = {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    ...(refusal === '' ? {} : { refusal }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return success(withEcho(turn, message, quirks));
}

/** Calls of one turn are told apart by their ids alone. */
function idBeside(ids: ReadonlySet<string>, given: string): string {
  const id = sendableToolCallId(given);
  return ids.has(id) ? madeToolCallId(`${ids.size}:${given}`) : id;
}

/** A tool message holds text only: other parts follow in a user message, after all results of the turn. */
function addResults(
  results: readonly ToolMessage[],
  { ids, index }: { readonly ids: readonly string[]; readonly index: number },
  written: WireMessage[],
): RequestFault | null {
  const moved: UserPart[] = [];
  for (const [position, result] of results.entries()) {
    const texts: string[] = [];
    const tool_call_id = ids[position] ?? '';
    for (const part of result.content) {
      if (part.type === 'text') texts.push(part.text);
      else moved.push({ type: 'text', text: `Result of tool call ${tool_call_id}:` }, part);
    }
    const isOnlyMedia = texts.length === 0 && result.content.length > 0;
    if (isOnlyMedia) texts.push('(the result follows in the next user message)');
    const text = texts.join('\n');
    written.push({
      role: 'tool',
      tool_call_id,
      content: result.isError ? `Error: ${text}` : text,
    });
  }
  if (moved.length === 0) return null;
  const content = userContent(moved, index);
  if (!content.ok) return content.fault;
  written.push({ role: 'user', content: content.value });
  return null;
}

/** A string where there is text alone: the form that every server takes. */
function userContent(
  parts: readonly UserPart[],
  index: number,
): Result<string | readonly JsonObject[], RequestFault> {
  const [only] = parts;
  if (parts.length === 0) return success('');
  if (parts.length === 1 && only?.type === 'text') return success(only.text);
  const written: JsonObject[] = [];
  for (const part of parts) {
    const encoded = part.type === 'text' ? { type: 'text', text: part.text } : encodeMedia(part);
    if (encoded === null) {
      const message = `messages[${index}] holds ${part.type} content in a form that this target does not take`;
      return fail({ param: `messages[${index}].content`, message });
    }
    written.push(encoded);
  }
  return success(written);
}

function encodeMedia(part: Media): JsonObject | null {
  switch (part.type) {
    case 'image': {
      const url = urlOf(part.source);
      if (url === null) return null;
      const detail = part.detail === null ? {} : { detail: part.detail };
      return { type: 'image_url', image_url: { url, ...detail } };
    }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'document':
      return encodeDocument(part);
  }
}

function urlOf(source: MediaSource): string | null {
  if (source.kind === 'url') return source.url;
  return source.kind === 'base64' ? `data:${source.mediaType};base64,${source.data}` : null;
}

function encodeDocument({ source, filename }: DocumentPart): JsonObject | null {
  if (source.kind === 'file') return { type: 'file', file: { file_id: source.fileId } };
  if (source.kind !== 'base64') return null;
  if (source.mediaType.startsWith('text/')) {
    const text = Buffer.from(source.data, 'base64').toString('utf8');
    return { type: 'text', text: filename === null ? text : `${filename}:\n${text}` };
  }
  return {
    type: 'file',
    file: {
      filename: filename ?? 'document.pdf',
      file_data: `data:${source.mediaType};base64,${source.data}`,
    },
  };
}
