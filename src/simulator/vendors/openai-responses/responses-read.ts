/** Reads a responses body into the simulator's own view; takes whatever it finds. */
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
import { isReasoningModel } from '../openai/openai-rules.ts';
import { base64Bytes } from '../vendor.ts';

const imageTokens = 85;
const itemTokens = 4;
const thinkingTokens = 64;

export function readResponsesBody(body: JsonObject): Prompt {
  const items = itemsOf(body);
  const lastUser = items.findLast((item) => item['role'] === 'user');
  const model = stringAt(body, 'model') ?? '';
  const reasoning = objectAt(body, 'reasoning');
  const inputTokens = countInput(body, items);
  const doesThink =
    isReasoningModel(model) && !['none', 'minimal'].includes(String(reasoning?.['effort']));
  return {
    model,
    isStream: body['stream'] === true,
    includeUsage: true,
    choices: 1,
    userText: lastUser === undefined ? '' : contentText(lastUser['content']),
    images: lastUser === undefined ? [] : imagesIn(lastUser['content']),
    toolResults: trailingResults(items),
    partial: partialAnswerIn(spokenTurns(items)),
    tools: offeredTools(body),
    toolUse: toolUseOf(body['tool_choice'], arrayAt(body, 'tools').length > 0),
    allowsParallelCalls: body['parallel_tool_calls'] !== false,
    output: outputForm(objectAt(objectAt(body, 'text'), 'format')),
    stops: [],
    outputTokensMax: numberAt(body, 'max_output_tokens'),
    inputTokens,
    cachedTokens: estimateCachedTokens(inputTokens),
    thinkingTokens: doesThink ? thinkingTokens : 0,
    showsThinking: stringAt(reasoning, 'summary') !== null,
    likelyTokens: arrayAt(body, 'include').includes('message.output_text.logprobs')
      ? (numberAt(body, 'top_logprobs') ?? 0)
      : null,
    sealsThinking: arrayAt(body, 'include').includes('reasoning.encrypted_content'),
  };
}

/** A plain text is what the user says. */
function itemsOf(body: JsonObject): readonly JsonObject[] {
  const { input } = body;
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  return arrayAt(body, 'input').filter(isJsonObject);
}

function countInput(body: JsonObject, items: readonly JsonObject[]): number {
  const head = estimateTokens(stringAt(body, 'instructions') ?? '');
  const spoken = items.reduce((sum, item) => sum + itemTokens + tokensOf(item), 3 + head);
  return spoken + (body['tools'] === undefined ? 0 : estimateTokens(JSON.stringify(body['tools'])));
}

function tokensOf(item: JsonObject): number {
  if (item['role'] === undefined) return estimateTokens(JSON.stringify(item));
  const images = imagesIn(item['content']).length * imageTokens;
  return estimateTokens(contentText(item['content'])) + images;
}

function spokenTurns(items: readonly JsonObject[]): readonly SpokenTurn[] {
  return items
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
    if (stringAt(part, 'type') !== 'input_image') return [];
    const match = /^data:([^;,]+);base64,(.*)$/s.exec(stringAt(part, 'image_url') ?? '');
    if (match === null) return [{ mediaType: 'image', bytes: null }];
    return [{ mediaType: match[1] ?? 'image', bytes: base64Bytes(match[2] ?? '') ?? 0 }];
  });
}

function trailingResults(items: readonly JsonObject[]): Prompt['toolResults'] {
  const isOutput = ({ type }: JsonObject): boolean => String(type).endsWith('_call_output');
  const last = items.findLastIndex((item) => !isOutput(item));
  return items.slice(last + 1).map((item) => {
    const call = items.find(
      (one) => one['call_id'] === item['call_id'] && stringAt(one, 'name') !== null,
    );
    return { name: stringAt(call, 'name') ?? 'tool', text: contentText(item['output']) };
  });
}

function offeredTools(body: JsonObject): readonly OfferedTool[] {
  return arrayAt(body, 'tools').flatMap((tool): readonly OfferedTool[] => {
    const name = stringAt(tool, 'type') === 'function' ? stringAt(tool, 'name') : null;
    return name === null ? [] : [{ name, schema: objectAt(tool, 'parameters') ?? {} }];
  });
}

function toolUseOf(choice: unknown, hasTools: boolean): ToolUse {
  if (!hasTools || choice === 'none') return { kind: 'none' };
  if (choice === 'required') return { kind: 'required', names: null };
  if (stringAt(choice, 'type') === 'allowed_tools') {
    if (stringAt(choice, 'mode') !== 'required') return { kind: 'free' };
    const names = arrayAt(choice, 'tools').map((one) => stringAt(one, 'name'));
    return { kind: 'required', names: names.filter((name) => name !== null) };
  }
  const name = stringAt(choice, 'name');
  return name === null ? { kind: 'free' } : { kind: 'required', names: [name] };
}

function outputForm(format: JsonObject | null): OutputForm {
  const type = stringAt(format, 'type');
  if (type === 'json_object') return { kind: 'json', schema: null };
  if (type !== 'json_schema') return { kind: 'text' };
  return { kind: 'json', schema: objectAt(format, 'schema') };
}
