/** Reads a chat completions body into the simulator's own view; takes whatever it finds. */
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  numberAt,
  objectAt,
  stringAt,
} from '../../../base/json.ts';
import { partialAnswerIn, type SpokenTurn } from '../../partial-answer.ts';
import type { OfferedTool, OutputForm, Prompt, SeenImage, ToolUse } from '../../prompt.ts';
import { estimateCachedTokens, estimateTokens } from '../../token-estimate.ts';
import { base64Bytes } from '../vendor.ts';
import { isReasoningModel } from './openai-rules.ts';

const imageTokens = 85;
const messageTokens = 4;
const thinkingTokens = 64;

export function readChatBody(body: JsonObject): Prompt {
  const messages = arrayAt(body, 'messages').filter(isJsonObject);
  const lastUser = messages.findLast((message) => message['role'] === 'user');
  const model = stringAt(body, 'model') ?? '';
  const stop = body['stop'];
  const inputTokens = countInput(body, messages);
  const doesThink =
    isReasoningModel(model) && !['none', 'minimal'].includes(String(body['reasoning_effort']));
  return {
    model,
    isStream: body['stream'] === true,
    includeUsage: objectAt(body, 'stream_options')?.['include_usage'] === true,
    choices: Math.trunc(Math.min(Math.max(numberAt(body, 'n') ?? 1, 1), 8)),
    userText: lastUser === undefined ? '' : contentText(lastUser['content']),
    images: lastUser === undefined ? [] : imagesIn(lastUser['content']),
    toolResults: trailingResults(messages),
    partial: partialAnswerIn(spokenTurns(messages)),
    tools: offeredTools(body),
    toolUse: toolUseOf(body['tool_choice'], arrayAt(body, 'tools').length > 0),
    allowsParallelCalls: body['parallel_tool_calls'] !== false,
    output: outputForm(objectAt(body, 'response_format')),
    stops: (typeof stop === 'string' ? [stop] : arrayAt(body, 'stop')).filter(
      (one) => typeof one === 'string',
    ),
    outputTokensMax: numberAt(body, 'max_completion_tokens') ?? numberAt(body, 'max_tokens'),
    inputTokens,
    cachedTokens: estimateCachedTokens(inputTokens),
    thinkingTokens: doesThink ? thinkingTokens : 0,
    showsThinking: false,
    likelyTokens: body['logprobs'] === true ? (numberAt(body, 'top_logprobs') ?? 0) : null,
  };
}

function countInput(body: JsonObject, messages: readonly JsonObject[]): number {
  const spoken = messages.reduce(
    (sum, message) =>
      sum +
      messageTokens +
      estimateTokens(contentText(message['content'])) +
      imagesIn(message['content']).length * imageTokens +
      estimateTokens(
        message['tool_calls'] === undefined ? '' : JSON.stringify(message['tool_calls']),
      ),
    3,
  );
  return spoken + (body['tools'] === undefined ? 0 : estimateTokens(JSON.stringify(body['tools'])));
}

function spokenTurns(messages: readonly JsonObject[]): readonly SpokenTurn[] {
  return messages
    .filter(({ role }) => role === 'user' || role === 'assistant')
    .map(({ role, content }) => ({ isModels: role === 'assistant', text: contentText(content) }));
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => stringAt(part, 'text') ?? '').join('');
}

function imagesIn(content: unknown): readonly SeenImage[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part): readonly SeenImage[] => {
    const url = stringAt(objectAt(part, 'image_url'), 'url');
    if (url === null) return [];
    const match = /^data:([^;,]+);base64,(.*)$/s.exec(url);
    if (match === null) return [{ mediaType: 'image', bytes: null }];
    return [{ mediaType: match[1] ?? 'image', bytes: base64Bytes(match[2] ?? '') ?? 0 }];
  });
}

function trailingResults(messages: readonly JsonObject[]): Prompt['toolResults'] {
  const last = messages.findLastIndex((message) => message['role'] !== 'tool');
  const calls = arrayAt(messages[last], 'tool_calls');
  return messages.slice(last + 1).map((message) => {
    const id = stringAt(message, 'tool_call_id');
    const call = calls.find((one) => stringAt(one, 'id') === id);
    const name = stringAt(objectAt(call, 'function'), 'name') ?? 'tool';
    return { name, text: contentText(message['content']) };
  });
}

function offeredTools(body: JsonObject): readonly OfferedTool[] {
  return arrayAt(body, 'tools').flatMap((tool): readonly OfferedTool[] => {
    const definition = objectAt(tool, 'function');
    const name = stringAt(definition, 'name');
    return name === null ? [] : [{ name, schema: objectAt(definition, 'parameters') ?? {} }];
  });
}

function toolUseOf(choice: unknown, hasTools: boolean): ToolUse {
  if (!hasTools || choice === 'none') return { kind: 'none' };
  if (choice === 'required') return { kind: 'required', names: null };
  const allowed = objectAt(choice, 'allowed_tools');
  if (allowed !== null) {
    if (allowed['mode'] !== 'required') return { kind: 'free' };
    const names = arrayAt(allowed, 'tools').map((one) =>
      stringAt(objectAt(one, 'function'), 'name'),
    );
    return { kind: 'required', names: names.filter((name) => name !== null) };
  }
  const name = stringAt(objectAt(choice, 'function'), 'name');
  return name === null ? { kind: 'free' } : { kind: 'required', names: [name] };
}

function outputForm(format: JsonObject | null): OutputForm {
  const type = stringAt(format, 'type');
  if (type === 'json_object') return { kind: 'json', schema: null };
  if (type !== 'json_schema') return { kind: 'text' };
  return { kind: 'json', schema: objectAt(objectAt(format, 'json_schema'), 'schema') };
}
