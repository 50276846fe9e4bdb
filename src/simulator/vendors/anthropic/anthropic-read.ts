/** Reads a messages body into the simulator's own view; takes whatever it finds. */
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
import { mergedTurns, type Turn } from './anthropic-messages.ts';

const imageTokens = 1_600;
const messageTokens = 4;
const thinkingTokens = 48;

export function readMessagesBody(body: JsonObject): Prompt {
  const turns = mergedTurns(body['messages']);
  const last = turns.at(-1);
  const lastUser = turns.findLast((turn) => turn.role === 'user' && hasOwnWords(turn));
  const inputTokens = countInput(body, turns);
  const thinking = objectAt(body, 'thinking');
  const isThinking = ['enabled', 'adaptive'].includes(stringAt(thinking, 'type') ?? '');
  return {
    model: stringAt(body, 'model') ?? '',
    isStream: body['stream'] === true,
    includeUsage: true,
    choices: 1,
    userText: lastUser === undefined ? '' : textOf(lastUser.blocks),
    images: (lastUser?.blocks ?? []).flatMap(imagesIn),
    toolResults: last === undefined ? [] : resultsIn(last, turns.at(-2)),
    partial: partialAnswerIn(turns.map(spokenTurn)),
    tools: offeredTools(body),
    toolUse: toolUseOf(objectAt(body, 'tool_choice'), arrayAt(body, 'tools').length > 0),
    allowsParallelCalls: objectAt(body, 'tool_choice')?.['disable_parallel_tool_use'] !== true,
    output: outputForm(body),
    stops: arrayAt(body, 'stop_sequences').filter((one) => typeof one === 'string'),
    outputTokensMax: numberAt(body, 'max_tokens'),
    inputTokens,
    cachedTokens: wantsCache(body) ? estimateCachedTokens(inputTokens) : 0,
    thinkingTokens: isThinking ? thinkingTokens : 0,
    showsThinking: isThinking && stringAt(thinking, 'display') !== 'omitted',
  };
}

function spokenTurn({ role, blocks }: Turn): SpokenTurn {
  return { isModels: role === 'assistant', text: textOf(blocks) };
}

function hasOwnWords(turn: Turn): boolean {
  return turn.blocks.some((block) => block['type'] === 'text' || block['type'] === 'image');
}

function textOf(blocks: readonly JsonObject[]): string {
  return blocks
    .filter((block) => block['type'] === 'text')
    .map((block) => stringAt(block, 'text') ?? '')
    .join('\n');
}

function imagesIn(block: JsonObject): readonly SeenImage[] {
  if (block['type'] !== 'image') return [];
  const source = objectAt(block, 'source');
  const data = stringAt(source, 'data');
  if (data === null) return [{ mediaType: 'image', bytes: null }];
  return [{ mediaType: stringAt(source, 'media_type') ?? 'image', bytes: base64Bytes(data) ?? 0 }];
}

function resultsIn(turn: Turn, previous: Turn | undefined): Prompt['toolResults'] {
  return turn.blocks
    .filter((block) => block['type'] === 'tool_result')
    .map((block) => {
      const call = previous?.blocks.find((one) => one['id'] === block['tool_use_id']);
      const content = block['content'];
      const text =
        typeof content === 'string'
          ? content
          : textOf(arrayAt(block, 'content').filter(isJsonObject));
      return { name: stringAt(call, 'name') ?? 'tool', text };
    });
}

function countInput(body: JsonObject, turns: readonly Turn[]): number {
  const system = body['system'];
  const head = [system, body['tools']]
    .map((part) => (part === undefined ? '' : JSON.stringify(part)))
    .reduce((sum, text) => sum + estimateTokens(text), 3);
  return turns.reduce(
    (sum, turn) =>
      sum + messageTokens + turn.blocks.reduce((inner, block) => inner + blockTokens(block), 0),
    head,
  );
}

function blockTokens(block: JsonObject): number {
  if (block['type'] === 'image') return imageTokens;
  if (block['type'] === 'text') return estimateTokens(stringAt(block, 'text') ?? '');
  return estimateTokens(JSON.stringify(block));
}

/** A cache mark anywhere the service takes one. */
function wantsCache(body: JsonObject): boolean {
  const marked = (blocks: readonly unknown[]): boolean =>
    blocks.some((block) => isJsonObject(block) && isJsonObject(block['cache_control']));
  return (
    isJsonObject(body['cache_control']) ||
    marked(arrayAt(body, 'system')) ||
    marked(arrayAt(body, 'tools')) ||
    arrayAt(body, 'messages').some((message) => marked(arrayAt(message, 'content')))
  );
}

function offeredTools(body: JsonObject): readonly OfferedTool[] {
  return arrayAt(body, 'tools').flatMap((tool): readonly OfferedTool[] => {
    const name = stringAt(tool, 'name');
    const schema = objectAt(tool, 'input_schema');
    return name === null || schema === null ? [] : [{ name, schema }];
  });
}

function toolUseOf(choice: JsonObject | null, hasTools: boolean): ToolUse {
  const type = stringAt(choice, 'type');
  if (!hasTools || type === 'none') return { kind: 'none' };
  if (type === 'any') return { kind: 'required', names: null };
  if (type === 'tool') return { kind: 'required', names: [stringAt(choice, 'name') ?? ''] };
  return { kind: 'free' };
}

function outputForm(body: JsonObject): OutputForm {
  const format =
    objectAt(objectAt(body, 'output_config'), 'format') ?? objectAt(body, 'output_format');
  if (stringAt(format, 'type') !== 'json_schema') return { kind: 'text' };
  return { kind: 'json', schema: objectAt(format, 'schema') };
}
