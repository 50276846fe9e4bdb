/** The streams that mutations begin with: recorded ones where they are, and the simulated vendors' always. */
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import type { Answer } from '../../../src/simulator/prompt.ts';
import {
  isStream,
  type Recorded,
  recordedFolder,
  recordedOf,
} from '../../conformance/dialects/recorded-fixtures.ts';
import { type CutUpstream, cutUpstreams } from '../cuts/cut-upstreams.ts';
import { eventsIn, type Framing, type StreamEvent } from './stream-events.ts';

export type CorpusStream = {
  readonly name: string;
  readonly framing: Framing;
  readonly bytes: Buffer;
  readonly events: readonly StreamEvent[];
};

/** What a dialect's answers begin with: streams, and whole bodies. */
export type Corpus = {
  readonly streams: readonly CorpusStream[];
  readonly bodies: readonly { readonly name: string; readonly bytes: Buffer }[];
};

/** Larger ones say nothing that smaller ones do not, and take most of the time. */
const bytesMax = 16_000;

function recordedFor(dialect: string): readonly Recorded[] {
  const root = recordedFolder();
  if (root === null) return [];
  return recordedOf(dialect, root).filter(({ bytes }) => bytes.length <= bytesMax);
}

const usage = { input: 20, cached: 5, output: 30, thinking: 10 };
const calls = ['call_0123456789abcdef01234567', 'call_123456789abcdef012345678'].map((id, at) => ({
  id,
  name: 'look_up',
  arguments: `{"word":"anchor ${at}","n":12345678901234567890}`,
}));

const answers: readonly Answer[] = [
  { thinking: '', text: 'Hello, world. 🌍', calls: [], end: 'complete' },
  { thinking: 'Let me think.', text: '', calls, end: 'tools' },
  { thinking: '', text: 'Cut short by', calls: calls.slice(1), end: 'length' },
].map((said) => ({ ...said, rawFinish: null, stopSequence: null, usage }) as Answer);

function simulatedOf({ dialect, vendor, model }: CutUpstream): Corpus {
  const route = { operation: 'generate', model, isStream: true, isArray: false } as const;
  const prompt = { ...vendor.read({}, route), showsThinking: true, includeUsage: true };
  const identity = {
    id: vendor.messageId('0123456789abcdef01234567'),
    requestId: 'req',
    model,
    createdAtSeconds: 1,
    eol: vendor.eol,
  };
  const encoding = vendor.binaryStreams === undefined ? 'utf8' : 'latin1';
  return {
    streams: answers.map((answer, at) => {
      const frames = vendor.frames(answer, prompt, { identity, isArray: false });
      const bytes = Buffer.from(frames.map(({ frame }) => frame).join(''), encoding);
      return streamOf(dialect, `simulated ${at}`, bytes);
    }),
    bodies: answers.map((answer, at) => ({
      name: `simulated ${at}`,
      bytes: Buffer.from(vendor.wholeBody(answer, prompt, identity)),
    })),
  };
}

function streamOf(dialect: string, name: string, bytes: Buffer): CorpusStream {
  const framing = dialect === 'bedrock-converse' ? 'messages' : 'lines';
  return { name, framing, bytes, events: eventsIn(bytes, framing) };
}

function corpusOf(upstream: CutUpstream): Corpus {
  const recorded = recordedFor(upstream.dialect);
  const simulated = simulatedOf(upstream);
  return {
    streams: [
      ...simulated.streams,
      ...recorded
        .filter((each) => isStream(each) && each.status === 200)
        .map(({ file, bytes }) => streamOf(upstream.dialect, file, bytes)),
    ],
    bodies: [
      ...simulated.bodies,
      ...recorded
        .filter((each) => !isStream(each))
        .map(({ file, bytes }) => ({ name: file, bytes })),
    ],
  };
}

/** By upstream dialect; every registered one. */
export const corpora: ReadonlyMap<string, Corpus> = new Map(
  cutUpstreams.map((upstream) => [upstream.dialect, corpusOf(upstream)]),
);

if (corpora.size !== upstreamDialects.size) throw new Error('a dialect without streams to mutate');
