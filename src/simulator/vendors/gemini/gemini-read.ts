/** Reads a generateContent body into the simulator's own view; takes whatever it finds. */
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { partialAnswerIn, type SpokenTurn } from '../../partial-answer.ts';
import type { OfferedTool, OutputForm, Prompt, SeenImage, ToolUse } from '../../prompt.ts';
import { estimateCachedTokens, estimateTokens } from '../../token-estimate.ts';
import { base64Bytes, type Route } from '../vendor.ts';
import { isSigning } from './gemini-signature.ts';
import { field, fieldArray, fieldObject, fieldString } from './proto-fields.ts';

const imageTokens = 258;
const thinkingTokens = 56;

export function readGenerateBody(outer: JsonObject, route: Route): Prompt {
  const body = fieldObject(outer, 'generateContentRequest') ?? outer;
  const contents = fieldArray(body, 'contents').filter(isJsonObject);
  const config = fieldObject(body, 'generationConfig');
  const lastUser = contents.findLast(
    (content) => roleOf(content) === 'user' && hasOwnWords(content),
  );
  const last = contents.at(-1);
  const parts = lastUser === undefined ? [] : fieldArray(lastUser, 'parts');
  const model = route.operation === 'models' ? '' : (route.model ?? '');
  const inputTokens = countInput(body, contents);
  const thinking = fieldObject(config, 'thinkingConfig');
  const doesThink = isSigning(model) && field(thinking, 'thinkingBudget') !== 0;
  const limit = field(config, 'maxOutputTokens');
  const tools = offeredTools(body);
  return {
    model,
    isStream: route.operation === 'generate' && route.isStream === true,
    includeUsage: true,
    choices: Math.trunc(
      Math.min(Math.max(Number(field(config, 'candidateCount') ?? 1) || 1, 1), 8),
    ),
    userText: textOf(parts),
    images: parts.flatMap(imagesIn),
    toolResults: last === undefined ? [] : fieldArray(last, 'parts').flatMap(resultsIn),
    partial: partialAnswerIn(contents.map(spokenTurn)),
    tools,
    toolUse: toolUseOf(body, tools.length > 0),
    allowsParallelCalls: true,
    output: outputForm(config),
    stops: fieldArray(config, 'stopSequences').filter((one) => typeof one === 'string'),
    outputTokensMax: typeof limit === 'number' ? limit : null,
    inputTokens,
    cachedTokens: estimateCachedTokens(inputTokens),
    thinkingTokens: doesThink ? thinkingTokens : 0,
    likelyTokens:
      field(config, 'responseLogprobs') === true ? Number(field(config, 'logprobs') ?? 0) : null,
    showsThinking: doesThink && field(thinking, 'includeThoughts') === true,
  };
}

function roleOf(content: JsonObject): string {
  return fieldString(content, 'role') === 'model' ? 'model' : 'user';
}

function spokenTurn(content: JsonObject): SpokenTurn {
  return { isModels: roleOf(content) === 'model', text: textOf(fieldArray(content, 'parts')) };
}

function hasOwnWords(content: JsonObject): boolean {
  return fieldArray(content, 'parts').some((part) => field(part, 'functionResponse') === undefined);
}

function textOf(parts: readonly unknown[]): string {
  return parts
    .filter((part) => field(part, 'thought') !== true)
    .map((part) => fieldString(part, 'text') ?? '')
    .join('');
}

function imagesIn(part: unknown): readonly SeenImage[] {
  const inline = fieldObject(part, 'inlineData');
  const data = inline === null ? null : fieldString(inline, 'data');
  if (data !== null) {
    return [
      { mediaType: fieldString(inline, 'mimeType') ?? 'image', bytes: base64Bytes(data) ?? 0 },
    ];
  }
  const file = fieldObject(part, 'fileData');
  return file === null ? [] : [{ mediaType: fieldString(file, 'mimeType') ?? 'file', bytes: null }];
}

function resultsIn(part: unknown): Prompt['toolResults'] {
  const result = fieldObject(part, 'functionResponse');
  if (result === null) return [];
  const response = fieldObject(result, 'response') ?? {};
  const values = Object.values(response);
  const only = values.length === 1 && typeof values[0] === 'string' ? values[0] : null;
  return [{ name: fieldString(result, 'name') ?? 'tool', text: only ?? JSON.stringify(response) }];
}

function countInput(body: JsonObject, contents: readonly JsonObject[]): number {
  const head = [field(body, 'systemInstruction'), field(body, 'tools')]
    .map((part) => (part === undefined ? '' : JSON.stringify(part)))
    .reduce((sum, text) => sum + estimateTokens(text), 1);
  const parts = contents.flatMap((content) => fieldArray(content, 'parts'));
  return parts.reduce<number>((sum, part) => sum + partTokens(part), head);
}

function partTokens(part: unknown): number {
  if (imagesIn(part).length > 0) return imageTokens;
  const text = fieldString(part, 'text');
  return estimateTokens(text ?? JSON.stringify(part) ?? '');
}

function offeredTools(body: JsonObject): readonly OfferedTool[] {
  return fieldArray(body, 'tools')
    .flatMap((tool) => fieldArray(tool, 'functionDeclarations'))
    .flatMap((one): readonly OfferedTool[] => {
      const name = fieldString(one, 'name');
      const schema = fieldObject(one, 'parametersJsonSchema') ?? fieldObject(one, 'parameters');
      return name === null ? [] : [{ name, schema: schema ?? {} }];
    });
}

function toolUseOf(body: JsonObject, hasTools: boolean): ToolUse {
  const calling = fieldObject(fieldObject(body, 'toolConfig'), 'functionCallingConfig');
  const mode = fieldString(calling, 'mode');
  if (!hasTools || mode === 'NONE') return { kind: 'none' };
  if (mode !== 'ANY') return { kind: 'free' };
  const names = fieldArray(calling, 'allowedFunctionNames').filter(
    (one) => typeof one === 'string',
  );
  return { kind: 'required', names: names.length > 0 ? names : null };
}

function outputForm(config: JsonObject | null): OutputForm {
  if (fieldString(config, 'responseMimeType') !== 'application/json') return { kind: 'text' };
  const schema = fieldObject(config, 'responseJsonSchema') ?? fieldObject(config, 'responseSchema');
  return { kind: 'json', schema };
}
