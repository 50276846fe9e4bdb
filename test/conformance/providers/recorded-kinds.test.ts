/** What services really sent and really took, against the presets that are named after them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../../../src/base/json.ts';
import { openaiChatClient } from '../../../src/dialects/openai-chat/client.ts';
import { failureOfResponse } from '../../../src/engine/failure-of.ts';
import { upstreamCallOf } from '../../../src/engine/upstream-call.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { boundProvider } from '../../support/bound-provider.ts';
import { classOfAnswer } from '../dialects/decoded.ts';
import { decode, expectAnswer } from '../dialects/expected-answer.ts';
import { type Recorded, readRecorded, recordedFolder } from '../dialects/recorded-fixtures.ts';

/** By the folder of the recordings, and the beginnings of names in the folder of reported errors. */
const kinds: {
  readonly [kind in string]: { readonly folder: string | null; readonly reported: string };
} = {
  'azure-openai': { folder: 'azure', reported: 'azure-' },
  'anthropic-compatible': { folder: 'anthropic', reported: 'anthropic-' },
  deepseek: { folder: 'deepseek', reported: 'deepseek-' },
  groq: { folder: 'groq', reported: 'groq-' },
  mistral: { folder: 'mistral', reported: 'mistral-' },
  ollama: { folder: 'ollama', reported: 'ollama-' },
  openrouter: { folder: 'openrouter', reported: 'openrouter-' },
  'vertex-gemini': { folder: 'vertex', reported: 'vertex-' },
  // The model's own answers: nothing of that service itself was recorded.
  'vertex-anthropic': { folder: 'anthropic', reported: 'anthropic-' },
  vllm: { folder: null, reported: 'vllm-' },
  xai: { folder: 'xai', reported: 'xai-' },
};

const root = recordedFolder();
const own = { project: 'a-project', location: 'global' };

/** Of another protocol of the same service, or read by taking back what was said. */
const elsewhere = new Set([
  'errors-reported/anthropic-compat-429.json',
  'anthropic/spliced-message-start.chunks.txt',
]);

/** Where the server is known, its words mean more than the index, which does not know it, has them mean. */
const classBy: ReadonlyMap<string, string> = new Map([
  ['errors-reported/vllm-400.json', 'context_length'],
]);

function filesOf(kind: string): readonly Recorded[] {
  const { folder, reported } = kinds[kind] ?? { folder: null, reported: '-' };
  const all = [
    ...(folder === null ? [] : readRecorded(root ?? '', folder)),
    ...readRecorded(root ?? '', 'errors-reported').filter(({ file }) =>
      file.startsWith(`errors-reported/${reported}`),
    ),
  ];
  return all.filter(({ file, protocol }) => protocol !== 'responses' && !elsewhere.has(file));
}

function failureAt(provider: Provider, { status, headers, bytes }: Recorded) {
  return failureOfResponse({ provider, response: { status, headers }, bytes, nowWallMs: 0 });
}

for (const kind of root === null ? [] : Object.keys(kinds)) {
  const provider = boundProvider({ kind, own });
  const files = filesOf(kind).map((recorded) => [recorded.file, recorded] as const);

  describe(`${kind} on recorded bytes`, () => {
    it.each(files.filter(([, { status }]) => status >= 400))('classifies %s', (file, recorded) => {
      const expected = classBy.get(file) ?? recorded.expect.class;
      expect(failureAt(provider, recorded).errorClass).toBe(expected);
    });

    it.each(files.filter(([, { status }]) => status < 400))('reads %s', (_file, recorded) => {
      const decoded = decode(provider.dialect, recorded);
      const { canonical, class: errorClass } = recorded.expect;
      const isAnswer = errorClass === undefined || canonical?.finish === 'content_filter';
      if (isAnswer) expectAnswer(decoded, recorded.expect);
      else if (errorClass !== 'stream_interrupted') {
        expect(classOfAnswer(provider.dialect, decoded)).toBe(errorClass);
      } else expect(decoded.finish).toBeNull();
    });
  });
}

type Taken = { readonly file: string; readonly body: JsonObject };

/** Bodies of Chat Completions that the service answered, as its index keeps them. */
function takenBy(kind: string): readonly Taken[] {
  const { folder } = kinds[kind] ?? { folder: null };
  if (root === null || folder === null) return [];
  return readFileSync(join(root, folder, 'index.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): unknown => JSON.parse(line))
    .flatMap((entry) => {
      const body = objectAt(objectAt(entry, 'request'), 'body');
      const isChat = isJsonObject(entry) && entry['protocol'] === 'chat' && entry['status'] === 200;
      return isChat && body !== null && Array.isArray(body['messages'])
        ? [{ file: stringAt(entry, 'file') ?? '', body }]
        : [];
    });
}

const taken = ['azure-openai', 'deepseek', 'groq', 'mistral', 'ollama', 'openrouter'].flatMap(
  (kind) => takenBy(kind).map(({ file, body }) => [kind, file, body] as const),
);

describe.skipIf(root === null)('what a service was recorded to take', () => {
  it.each(taken)('%s is sent as it was: %s', (kind, file, body) => {
    const decoded = openaiChatClient.decodeRequest(Buffer.from(JSON.stringify(body)));
    if (!decoded.ok) throw new Error(`${file}: ${decoded.fault.message}`);
    const provider = boundProvider({ kind });
    const model = stringAt(body, 'model') ?? '';
    const { request } = decoded.value;
    expect(provider.dialect.missingAbility(request)).toBeNull();
    const target = { provider, model, params: {}, variant: null };
    const call = upstreamCallOf(request, target as never, null, null);
    const encoded = provider.dialect.encodeCall(call);
    if (!encoded.ok) throw new Error(encoded.fault.message);
    expect(encoded.value.dropped).toEqual([]);
    expect(fieldsOf(JSON.parse(encoded.value.body.toString()))).toEqual(fieldsOf(body));
  });
});

/** What the gateway never asks to be told, or always asks, and what only its history holds, left out. */
function fieldsOf(body: JsonObject): JsonObject {
  const { stream_options: _, messages: __, max_completion_tokens, max_tokens, ...rest } = body;
  return { ...rest, limit: max_completion_tokens ?? max_tokens ?? null };
}
