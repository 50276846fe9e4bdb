/** Recorded answers of real providers, told to a client of gemini: in its grammar, with nothing lost. */
import { describe, expect, it } from 'vitest';
import { ReplyCollector } from '../../../src/chat/reply.ts';
import type { StreamPart } from '../../../src/chat/stream-event.ts';
import { geminiClient } from '../../../src/dialects/gemini/client.ts';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import { readGeminiReply, readGeminiStream } from '../../support/gemini-answers.ts';
import { streamParts } from './decoded.ts';
import { isStream, type Recorded, readRecorded, recordedFolder } from './recorded-fixtures.ts';

const folders: { readonly [dialect: string]: readonly string[] } = {
  'openai-chat': [
    'openai-chat',
    'azure',
    'deepseek',
    'groq',
    'mistral',
    'ollama',
    'openrouter',
    'xai',
  ],
  'anthropic-messages': ['anthropic'],
  gemini: ['gemini', 'vertex'],
};

const root = recordedFolder();
if (root === null) {
  console.log('recorded fixtures: not found, their suite did not run (set TIERGATE_RECORDED)');
}

function partsOf(dialect: string, recorded: Recorded): readonly StreamPart[] {
  const upstream = upstreamDialects.get(dialect);
  if (upstream === undefined) throw new Error(dialect);
  if (recorded.status !== 200) return [];
  return isStream(recorded)
    ? streamParts(upstream, [recorded.bytes])
    : upstream.decodeReply(recorded.bytes);
}

/** What ends well; the rest is a failed attempt, and no client is told of it. */
function answersOf(dialect: string) {
  return (folders[dialect] ?? [])
    .flatMap((folder) => (root === null ? [] : readRecorded(root, folder)))
    .map((recorded) => ({ file: recorded.file, parts: partsOf(dialect, recorded) }))
    .filter(({ parts }) => {
      const types = new Set(parts.flatMap(({ events }) => events.map(({ type }) => type)));
      return types.has('finish') && types.has('end') && !types.has('error');
    });
}

const options = { includeUsage: true, fallbackId: 'own', createdAtSeconds: 1, meta: null };

describe.runIf(root !== null).each(Object.keys(folders))('recorded answers in %s', (dialect) => {
  it.each(answersOf(dialect))('$file', ({ parts }) => {
    const collector = new ReplyCollector();
    for (const event of parts.flatMap(({ events }) => events)) collector.push(event);
    const reply = collector.reply();
    const encoder = geminiClient.streamEncoder(options);
    const stream = parts.map(({ events }) => encoder.push({ events, frame: null }).toString());
    const streamed = readGeminiStream(stream.join(''));
    const whole = readGeminiReply(
      geminiClient.encodeReply({ ...options, reply, original: null }).toString(),
    );
    const [first] = reply.choices;
    expect(streamed.text).toBe((first?.text ?? '') + (first?.refusal ?? ''));
    expect(whole.text).toBe(streamed.text);
    expect(whole.calls).toEqual(streamed.calls);
    expect(whole.finishReasons).toEqual(streamed.finishReasons);
    const isBroken = streamed.finishReasons.includes('MALFORMED_FUNCTION_CALL');
    if (!isBroken) expect(streamed.calls).toHaveLength(first?.toolCalls.length ?? 0);
    const { inputTokens, outputTokens } = reply.usage;
    if (inputTokens !== null) expect(whole.usage?.['promptTokenCount']).toBe(inputTokens);
    if (outputTokens === null) return;
    const told = [whole.usage?.['candidatesTokenCount'], whole.usage?.['thoughtsTokenCount'] ?? 0];
    expect(Number(told[0]) + Number(told[1])).toBe(outputTokens);
  });
});
