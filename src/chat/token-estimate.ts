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
