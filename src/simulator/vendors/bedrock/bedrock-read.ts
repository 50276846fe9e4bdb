/** Reads a Converse body into the simulator's own view; takes whatever it finds. */
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  numberAt,
  objectAt,
  parseJson,
  stringAt,
} from '../../../base/json.ts';
import { partialAnswerIn } from '../../partial-answer.ts';
import type { OfferedTool, OutputForm, Prompt, SeenImage, ToolUse } from '../../prompt.ts';
import { estimateCachedTokens, estimateTokens } from '../../token-estimate.ts';
import { base64Bytes, type Route } from '../vendor.ts';
import { kindOf } from './bedrock-blocks.ts';
import { blocksOf } from './bedrock-messages.ts';

const imageTokens = 1_600;
const messageTokens = 4;
const thinkingTokens = 48;

export function readConverseBody(body: JsonObject, route: Route): Prompt {
  const messages = arrayAt(body, 'messages');
  const last = messages.at(-1);
  const lastUser = messages.findLast(
    (message) => stringAt(message, 'role') === 'user' && blocksOf(message).some(isOwnWord),
  );
  const words = blocksOf(lastUser);
  const inputTokens = countInput(body, messages);
  const isThinking = thinks(objectAt(body, 'additionalModelRequestFields'));
  const config = objectAt(body, 'inferenceConfig');
  const tools = offeredTools(body);
  return {
    model: route.model ?? '',
    isStream: route.operation === 'generate' && route.isStream === true,
    includeUsage: true,
    choices: 1,
    userText: textOf(words),
    images: words.flatMap(imagesIn),
    toolResults: resultsIn(last, messages.at(-2)),
    partial: partialAnswerIn(
      messages.map((message) => ({
        isModels: stringAt(message, 'role') === 'assistant',
        text: textOf(blocksOf(message)),
      })),
    ),
    tools,
    toolUse: toolUseOf(objectAt(objectAt(body, 'toolConfig'), 'toolChoice'), tools.length > 0),
    allowsParallelCalls: true,
    output: outputForm(body),
    stops: arrayAt(config, 'stopSequences').filter((stop) => typeof stop === 'string'),
    outputTokensMax: numberAt(config, 'maxTokens'),
    inputTokens,
    cachedTokens: wantsCache(body, messages) ? estimateCachedTokens(inputTokens) : 0,
    thinkingTokens: isThinking ? thinkingTokens : 0,
    showsThinking: isThinking,
  };
}

function thinks(modelFields: JsonObject | null): boolean {
  const thinking = stringAt(objectAt(modelFields, 'thinking'), 'type') ?? '';
  return (
    ['enabled', 'adaptive'].includes(thinking) ||
    stringAt(objectAt(modelFields, 'reasoningConfig'), 'type') === 'enabled'
  );
}

function isOwnWord(block: JsonObject): boolean {
  return kindOf(block) === 'text' || kindOf(block) === 'image';
}

function textOf(blocks: readonly JsonObject[]): string {
  return blocks.flatMap((block) => stringAt(block, 'text') ?? []).join('\n');
}

function imagesIn(block: JsonObject): readonly SeenImage[] {
  const image = objectAt(block, 'image');
  if (image === null) return [];
  const data = stringAt(objectAt(image, 'source'), 'bytes');
  const bytes = data === null ? null : (base64Bytes(data) ?? 0);
  return [{ mediaType: `image/${stringAt(image, 'format') ?? ''}`, bytes }];
}

function resultsIn(message: unknown, previous: unknown): Prompt['toolResults'] {
  return blocksOf(message).flatMap((block) => {
    const result = objectAt(block, 'toolResult');
    if (result === null) return [];
    const id = stringAt(result, 'toolUseId');
    const call = blocksOf(previous)
      .map((one) => objectAt(one, 'toolUse'))
      .find((one) => stringAt(one, 'toolUseId') === id);
    const content = arrayAt(result, 'content').filter(isJsonObject);
    return [{ name: stringAt(call, 'name') ?? 'tool', text: textOf(content) }];
  });
}

function countInput(body: JsonObject, messages: readonly unknown[]): number {
  const head = [body['system'], body['toolConfig']]
    .map((part) => (part === undefined ? '' : JSON.stringify(part)))
    .reduce((sum, text) => sum + estimateTokens(text), 3);
  return messages
    .map((message) => blocksOf(message).reduce((sum, block) => sum + blockTokens(block), 0))
    .reduce((sum, tokens) => sum + messageTokens + tokens, head);
}

function blockTokens(block: JsonObject): number {
  if (kindOf(block) === 'image') return imageTokens;
  if (kindOf(block) === 'text') return estimateTokens(stringAt(block, 'text') ?? '');
  return estimateTokens(JSON.stringify(block));
}

function wantsCache(body: JsonObject, messages: readonly unknown[]): boolean {
  const blocks = [...arrayAt(body, 'system'), ...messages.flatMap(blocksOf)];
  return blocks.some((block) => kindOf(block) === 'cachePoint');
}

function offeredTools(body: JsonObject): readonly OfferedTool[] {
  return arrayAt(objectAt(body, 'toolConfig'), 'tools').flatMap((tool): readonly OfferedTool[] => {
    const spec = objectAt(tool, 'toolSpec');
    const name = stringAt(spec, 'name');
    const schema = objectAt(objectAt(spec, 'inputSchema'), 'json');
    return name === null || schema === null ? [] : [{ name, schema }];
  });
}

function toolUseOf(choice: JsonObject | null, hasTools: boolean): ToolUse {
  if (!hasTools) return { kind: 'none' };
  if (objectAt(choice, 'any') !== null) return { kind: 'required', names: null };
  const named = objectAt(choice, 'tool');
  if (named === null) return { kind: 'free' };
  return { kind: 'required', names: [stringAt(named, 'name') ?? ''] };
}

function outputForm(body: JsonObject): OutputForm {
  const format = objectAt(objectAt(body, 'outputConfig'), 'textFormat');
  const written = stringAt(objectAt(objectAt(format, 'structure'), 'jsonSchema'), 'schema');
  if (written === null) return { kind: 'text' };
  const schema = parseJson(written);
  return { kind: 'json', schema: schema.ok && isJsonObject(schema.value) ? schema.value : null };
}
