/** How many tokens a request may come to, where nobody who knows can be asked. */
import type { AssistantPart, ChatRequest, Message, ToolResultPart, UserPart } from './request.ts';

/** Of UTF-8: English text comes to about four bytes a token, Chinese to about two thirds of a token a sign. */
const bytesPerToken = 4;
/** What stands around a message or a tool. */
const tokensPerItem = 4;
/** A picture or a page of the usual size; vendors count between 250 and 1,600. */
const tokensPerMedia = 1_600;

/** At least 1. A guess: within some tens of percent for plain text, no better than its order for media. */
export function estimateInputTokens(request: ChatRequest): number {
  let tokens = 0;
  for (const message of request.messages) tokens += tokensPerItem + tokensOfMessage(message);
  for (const tool of request.tools) {
    const schema = tool.parameters === null ? '' : JSON.stringify(tool.parameters);
    tokens += tokensPerItem + tokensOfText(`${tool.name}${tool.description ?? ''}${schema}`);
  }
  for (const { raw } of request.providerTools) tokens += tokensOfText(JSON.stringify(raw));
  return Math.max(1, tokens);
}

/** No text is shorter in tokens than this, but one that is made of repetitions. */
const bytesPerTokenMost = 8;

/**
 * Whether the request is longer than `tokens`, as far as that is sure: media count nothing, and text half of
 * what it usually comes to. Its texts are read only where the body is long enough for that.
 */
export function isSurelyLonger(request: ChatRequest, tokens: number): boolean {
  const bytes = tokens * bytesPerTokenMost;
  return request.original.bytes.length > bytes && textBytes(request) > bytes;
}

function textBytes({ messages }: ChatRequest): number {
  let bytes = 0;
  for (const message of messages) {
    for (const part of message.content) {
      if (part.type === 'text') bytes += Buffer.byteLength(part.text);
      if (part.type === 'tool_call') bytes += Buffer.byteLength(part.arguments);
    }
  }
  return bytes;
}

function tokensOfMessage({ content }: Message): number {
  let tokens = 0;
  for (const part of content) tokens += tokensOfPart(part);
  return tokens;
}

function tokensOfPart(part: UserPart | AssistantPart | ToolResultPart): number {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return tokensOfText(part.text);
    case 'tool_call':
      return tokensPerItem + tokensOfText(`${part.name}${part.arguments}`);
    case 'image':
    case 'document':
    case 'audio':
      return tokensPerMedia;
  }
}

function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}
