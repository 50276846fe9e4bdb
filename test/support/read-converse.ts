/** A Converse body as a conversation: this dialect has no clients, so that nothing else reads it back. */
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  numberAt,
  objectAt,
  stringAt,
} from '../../src/base/json.ts';
import {
  type AssistantPart,
  type ChatRequest,
  type Message,
  noParameters,
  type ToolChoice,
  type ToolDefinition,
  type UserPart,
} from '../../src/chat/request.ts';
import { encodeJson, parseExactJson } from '../../src/dialects/exact-json.ts';

export function readConverse(body: Buffer): ChatRequest {
  const parsed = parseExactJson(body.toString('utf8'));
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new Error('no JSON object');
  const json = parsed.value;
  const system = objects(json, 'system').map((block) => textPart(text(block)));
  const turns = objects(json, 'messages').flatMap(readMessage);
  const limits = objectAt(json, 'inferenceConfig');
  const tools = objects(objectAt(json, 'toolConfig'), 'tools');
  return {
    model: 'tier',
    messages: system.length === 0 ? turns : [{ role: 'system', content: system }, ...turns],
    tools: tools.map(readTool),
    providerTools: [],
    toolChoice: readChoice(objectAt(objectAt(json, 'toolConfig'), 'toolChoice')),
    parameters: {
      ...noParameters,
      max_tokens: numberAt(limits, 'maxTokens'),
      temperature: numberAt(limits, 'temperature'),
      stop: limits === null || !('stopSequences' in limits) ? null : strings(limits),
    },
    isStream: false,
    includeUsage: true,
    otherFields: [],
    original: { dialect: 'none', bytes: body, json },
  };
}

function readMessage(message: JsonObject): readonly Message[] {
  const blocks = objects(message, 'content');
  if (stringAt(message, 'role') === 'assistant') {
    return [{ role: 'assistant', content: blocks.map(readAnswered) }];
  }
  const said = blocks.filter((block) => !('toolResult' in block)).map(readPart);
  const results = blocks.flatMap((block): readonly Message[] => {
    const result = objectAt(block, 'toolResult');
    if (result === null) return [];
    const content = objects(result, 'content').map((part) => textPart(text(part)));
    const isError = stringAt(result, 'status') === 'error';
    return [{ role: 'tool', toolCallId: stringAt(result, 'toolUseId') ?? '', content, isError }];
  });
  return said.length === 0 ? results : [...results, { role: 'user', name: null, content: said }];
}

function readAnswered(block: JsonObject): AssistantPart {
  const call = objectAt(block, 'toolUse');
  if (call === null) return textPart(text(block));
  const input = encodeJson(call['input']);
  if (!input.ok) throw new Error(input.fault);
  const [id, name] = [stringAt(call, 'toolUseId') ?? '', stringAt(call, 'name') ?? ''];
  return { type: 'tool_call', id, name, arguments: input.value };
}

function readPart(block: JsonObject): UserPart {
  const image = objectAt(block, 'image');
  if (image === null) return textPart(text(block));
  const data = stringAt(objectAt(image, 'source'), 'bytes') ?? '';
  const mediaType = `image/${stringAt(image, 'format')}`;
  return { type: 'image', source: { kind: 'base64', mediaType, data }, detail: null };
}

function readTool(tool: JsonObject): ToolDefinition {
  const spec = objectAt(tool, 'toolSpec');
  return {
    name: stringAt(spec, 'name') ?? '',
    description: stringAt(spec, 'description'),
    parameters: objectAt(objectAt(spec, 'inputSchema'), 'json'),
    strict: null,
  };
}

function readChoice(choice: JsonObject | null): ToolChoice | null {
  if (choice === null) return null;
  const tool = objectAt(choice, 'tool');
  if (tool !== null) return { mode: 'tool', name: stringAt(tool, 'name') ?? '' };
  return 'any' in choice ? { mode: 'required' } : { mode: 'auto' };
}

function text(block: JsonObject): string {
  const found = stringAt(block, 'text');
  if (found === null) throw new Error(`no text: ${JSON.stringify(block)}`);
  return found;
}

function textPart(value: string) {
  return { type: 'text', text: value } as const;
}

function objects(value: unknown, name: string): readonly JsonObject[] {
  return arrayAt(value, name).filter(isJsonObject);
}

function strings(limits: JsonObject): readonly string[] {
  return arrayAt(limits, 'stopSequences').map(String);
}
