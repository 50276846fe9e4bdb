/** Turns as contents of parts. */
import { fail, type Result, success } from '../../base/result.ts';
import type { MediaSource, ToolMessage, UserPart } from '../../chat/request.ts';
import type { RequestFault } from '../dialect.ts';
import { unwritableName } from '../tool-names.ts';
import type { AssistantTurn, Turn, TurnCall, UserTurn } from '../turns.ts';
import { toolName } from './encode-tools.ts';
import { linkTypeOf } from './link-type.ts';
import { type CarriedCall, decodeCallId } from './tool-call-ids.ts';
import type { WireContent, WirePart } from './wire.ts';

/**
 * The documented value for a call that no model of the service made (base64 of
 * `skip_thought_signature_validator`; ai.google.dev, thought signatures, November 2026).
 */
export const dummySignature = 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=';

/** `family`: of the model that is asked; signatures of another stay here. */
export function encodeMessages(
  turns: readonly Turn[],
  family: string,
  dropped: Set<string>,
): Result<readonly WireContent[], RequestFault> {
  const contents: WireContent[] = [];
  let calls: readonly WrittenCall[] = [];
  for (const turn of turns) {
    if (turn.role === 'user') {
      contents.push({ role: 'user', parts: userParts(turn, calls, dropped) });
      continue;
    }
    const written = writeCalls(turn.calls, family);
    if (!written.ok) return written;
    calls = written.value;
    contents.push({ role: 'model', parts: modelParts(turn, calls) });
  }
  return success(contents);
}

type WrittenCall = {
  readonly name: string;
  readonly input: TurnCall['input'];
  readonly carried: CarriedCall | null;
};

function writeCalls(
  calls: readonly TurnCall[],
  family: string,
): Result<readonly WrittenCall[], RequestFault> {
  const written: WrittenCall[] = [];
  for (const { id, name, input } of calls) {
    const mapped = toolName(name);
    if (mapped === null) return fail(unwritableName(name));
    written.push({ name: mapped, input, carried: decodeCallId(id, family) });
  }
  return success(written);
}

/** The first call of a step must be signed, the others may be. */
function modelParts(turn: AssistantTurn, calls: readonly WrittenCall[]): readonly WirePart[] {
  const parts: WirePart[] = [];
  let written = 0;
  for (const part of turn.parts) {
    if (part.type === 'text') parts.push({ text: part.text });
    if (part.type !== 'call') continue;
    const call = calls[written];
    const signature = call?.carried?.signature ?? (written === 0 ? dummySignature : null);
    written += 1;
    if (call === undefined) continue;
    const functionCall = { name: call.name, args: call.input, ...idOf(call.carried) };
    parts.push({ functionCall, ...(signature === null ? {} : { thoughtSignature: signature }) });
  }
  return parts;
}

/** Only the service's own ids go back to it: some versions know no such field. */
function idOf(carried: CarriedCall | null): { readonly id?: string } {
  return carried === null || carried.providerId === null ? {} : { id: carried.providerId };
}

function userParts(
  turn: UserTurn,
  calls: readonly WrittenCall[],
  dropped: Set<string>,
): readonly WirePart[] {
  const responses: WirePart[] = [];
  const media: WirePart[] = [];
  for (const [index, result] of turn.results.entries()) {
    const call = calls[index];
    const name = call?.name ?? '';
    const response = responseOf(result);
    responses.push({ functionResponse: { name, response, ...idOf(call?.carried ?? null) } });
    const parts = mediaOf(result.content, dropped);
    if (parts.length > 0) media.push({ text: `Content of the result of ${name}:` }, ...parts);
  }
  const own = turn.parts.map((part) => partOf(part, dropped));
  return [...responses, ...media, ...own];
}

function responseOf({ content, isError }: ToolMessage): { readonly [key: string]: string } {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).filter(Boolean);
  return { [isError ? 'error' : 'output']: text.join('\n') };
}

function mediaOf(content: ToolMessage['content'], dropped: Set<string>): readonly WirePart[] {
  return content.filter((part) => part.type !== 'text').map((part) => partOf(part, dropped));
}

function partOf(part: UserPart, dropped: Set<string>): WirePart {
  switch (part.type) {
    case 'text':
      if (part.cacheControl !== undefined) dropped.add('cache_control');
      return { text: part.text };
    case 'image':
      if (part.detail !== null && part.detail !== 'auto') dropped.add('detail');
      return sourcePart(part.source);
    case 'document':
      if (part.filename !== null) dropped.add('filename');
      return sourcePart(part.source);
    case 'audio':
      return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } };
  }
}

function sourcePart(source: MediaSource): WirePart {
  switch (source.kind) {
    case 'base64':
      return { inlineData: { mimeType: source.mediaType, data: source.data } };
    case 'url':
      return { fileData: { fileUri: source.url, ...mimeTypeOf(source.url) } };
    case 'file':
      return { fileData: { fileUri: source.fileId } };
  }
}

/** A link's thing needs its type told; the file store knows its own. */
function mimeTypeOf(url: string): { readonly mimeType?: string } {
  const mimeType = linkTypeOf(url);
  return mimeType === null ? {} : { mimeType };
}
