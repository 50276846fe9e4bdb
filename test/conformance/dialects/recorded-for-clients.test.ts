/** Recorded answers of real providers, told to a client of each dialect: in its grammar, with nothing lost. */
import { describe, expect, it } from 'vitest';
import { type ChatReply, ReplyCollector } from '../../../src/chat/reply.ts';
import type { StreamPart } from '../../../src/chat/stream-event.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { type Told, toldReaders } from '../../support/told-clients.ts';
import { streamParts } from './decoded.ts';
import {
  isStream,
  type Recorded,
  recordedFolder,
  recordedOf,
  recordedSubjects,
} from './recorded-fixtures.ts';

const root = recordedFolder();
if (root === null) {
  console.log('recorded fixtures: not found, their suite did not run (set TIERGATE_RECORDED)');
}

function partsOf(dialect: string, recorded: Recorded): readonly StreamPart[] {
  const upstream = upstreamDialects.get(dialect);
  if (upstream === undefined || recorded.status !== 200) return [];
  return isStream(recorded)
    ? streamParts(upstream, [recorded.bytes])
    : upstream.decodeReply(recorded.bytes);
}

/** What no client of another dialect can have asked for: it has no such tools, and no form for their calls. */
const ofOwnClientsAlone: readonly string[] = ['openai-responses/custom-tool-stream.chunks.txt'];

/** What ends well; the rest is a failed attempt, and no client is told of it. */
const answers = recordedSubjects.flatMap(({ dialect }) =>
  (root === null ? [] : recordedOf(dialect, root))
    .filter(({ file }) => !ofOwnClientsAlone.includes(file))
    .map((recorded) => ({ file: recorded.file, parts: partsOf(dialect, recorded) }))
    .filter(({ parts }) => {
      const types = new Set(parts.flatMap(({ events }) => events.map(({ type }) => type)));
      return types.has('finish') && types.has('end') && !types.has('error');
    }),
);

const options = { includeUsage: true, fallbackId: 'own', createdAtSeconds: 1, meta: null };

function collected(parts: readonly StreamPart[]): ChatReply {
  const collector = new ReplyCollector();
  for (const event of parts.flatMap(({ events }) => events)) collector.push(event);
  return collector.reply();
}

it('every client dialect has a reader', () => {
  expect(Object.keys(toldReaders).toSorted()).toEqual([...clientDialects.keys()].toSorted());
});

// Where the recordings are, they are read: see `recordedFolder`.
describe.runIf(root !== null).each([...clientDialects.values()])('told to $name', (client) => {
  it.each(answers)('$file', ({ parts }) => {
    const reply = collected(parts);
    const encoder = client.streamEncoder(options);
    const stream = parts.map(({ events }) => encoder.push({ events, frame: null }).toString());
    const reader = toldReaders[client.name];
    if (reader === undefined) throw new Error(client.name);
    const streamed = reader.stream(stream.join(''));
    const whole = reader.whole(
      client.encodeReply({ ...options, reply, original: null }).toString(),
    );
    for (const told of [streamed, whole]) expectWhole(told, reply);
    expect(whole.calls).toEqual(streamed.calls);
    expect(whole.finish).toBe(streamed.finish);
  });
});

function expectWhole(told: Told, { choices: [first], usage }: ChatReply): void {
  expect(told.text).toBe((first?.text ?? '') + (first?.refusal ?? ''));
  // A call that no object can be made of has no place in some dialects: its finish says so.
  if (!told.finish.includes('MALFORMED'))
    expect(told.calls).toHaveLength(first?.toolCalls.length ?? 0);
  if (usage.inputTokens !== null) expect(told.inputTokens).toBe(usage.inputTokens);
  if (usage.outputTokens !== null) expect(told.outputTokens).toBe(usage.outputTokens);
}
