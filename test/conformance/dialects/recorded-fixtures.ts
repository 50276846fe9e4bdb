/** Answers of real providers, read where they lie: they are under their sources' licences and stay outside the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeEvent } from '../../support/event-stream-codec.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** The folder, or null where there is none. A folder that is named must exist. */
export function recordedFolder(): string | null {
  const named = process.env['TIERGATE_RECORDED'];
  const folder = named ?? join(repository, '../shared/fixtures/recorded');
  if (existsSync(join(folder, 'README.md'))) return folder;
  if (named !== undefined) throw new Error(`TIERGATE_RECORDED names ${named}, which is not there`);
  return null;
}

export type Expectation = {
  readonly class?: string;
  readonly text_sha256?: string;
  readonly text?: string;
  readonly reasoning_chars?: number;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly {
    readonly name: string;
    readonly args: unknown;
    /** Run by the provider itself. */
    readonly server?: boolean;
  }[];
  readonly canonical?: {
    readonly finish: string | null;
    readonly usage: Readonly<Record<string, number>> | null;
    /** Where one answer was made in several rounds: what all of them cost, which is what counts. */
    readonly usage_sum_of_iterations?: Readonly<Record<string, number>>;
  };
};

export type Recorded = {
  readonly file: string;
  readonly protocol: string;
  readonly form: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly expect: Expectation;
  /** As a server would have sent it: framing that the source left out is put back. */
  readonly bytes: Buffer;
};

/** Which recordings speak a dialect: those of these protocols in these folders. */
export type RecordedSubject = {
  readonly dialect: string;
  readonly folders: readonly string[];
  readonly protocols: readonly string[];
};

export const recordedSubjects: readonly RecordedSubject[] = [
  {
    dialect: 'openai-chat',
    folders: [
      'openai-chat',
      'azure',
      'deepseek',
      'groq',
      'mistral',
      'ollama',
      'openrouter',
      'others',
      'cohere',
      'xai',
      'errors-reported',
    ],
    protocols: [
      'chat',
      'azure',
      'cohere',
      'deepseek',
      'gpustack',
      'groq',
      'mistral',
      'moonshot',
      'openai',
      'openrouter',
      'vllm',
      'xai',
    ],
  },
  {
    dialect: 'anthropic-messages',
    folders: ['anthropic', 'errors-reported'],
    protocols: ['anthropic'],
  },
  {
    dialect: 'gemini',
    folders: ['gemini', 'vertex', 'errors-reported'],
    protocols: ['gemini', 'vertex'],
  },
  {
    dialect: 'bedrock-converse',
    folders: ['bedrock', 'errors-reported'],
    protocols: ['bedrock'],
  },
  {
    dialect: 'openai-responses',
    folders: ['openai-responses', 'azure', 'errors-reported'],
    protocols: ['responses'],
  },
];

/** Files that the index lists under another protocol than their form's. */
const formOf: ReadonlyMap<string, string> = new Map([
  ['errors-reported/openai-responses-overloaded.sse', 'responses'],
  ['errors-reported/openai-responses-server-error.sse', 'responses'],
  ['errors-reported/anthropic-compat-429.json', 'openai'],
]);

/** What a folder's index lists and expects something of. */
export function readRecorded(root: string, folder: string): readonly Recorded[] {
  const index = readFileSync(join(root, folder, 'index.jsonl'), 'utf8');
  return index
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
    .filter((entry) => entry.expect !== null)
    .map((entry) => ({
      file: entry.file,
      protocol: entry.protocol,
      form: entry.form,
      status: entry.status,
      headers: entry.headers ?? {},
      expect: entry.expect,
      bytes: framed(readFileSync(join(root, entry.file)), entry.form, entry.protocol),
    }));
}

/** What is expected of a dialect, in the order of the folders. */
export function recordedOf(dialect: string, root: string): readonly Recorded[] {
  return recordedSubjects
    .filter((subject) => subject.dialect === dialect)
    .flatMap(({ folders, protocols }) =>
      folders
        .flatMap((folder) => readRecorded(root, folder))
        .filter(({ file, protocol }) => protocols.includes(formOf.get(file) ?? protocol)),
    );
}

export function isStream({ form }: Recorded): boolean {
  return form === 'sse' || form === 'es' || form === 'chunks' || form === 'jsonarray';
}

function framed(bytes: Buffer, form: string, protocol: string): Buffer {
  if (form === 'jsonarray') {
    const elements: unknown[] = JSON.parse(bytes.toString('utf8'));
    return Buffer.from(elements.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''));
  }
  if (form !== 'chunks') return bytes;
  const lines = bytes.toString('utf8').split('\n');
  const events = lines.filter((line) => line.trim() !== '');
  if (protocol === 'bedrock') return Buffer.concat(events.map(messageOf));
  return Buffer.from(events.map((line) => frameOf(line, protocol)).join(''));
}

/** `{"messageStop": {...}}`: the event's type and what it carries. */
function messageOf(line: string): Buffer {
  const [event] = Object.entries<unknown>(JSON.parse(line));
  if (event === undefined) throw new Error('a line without an event');
  return encodeEvent(...event);
}

function frameOf(line: string, protocol: string): string {
  if (protocol !== 'anthropic') return `data: ${line}\n\n`;
  const { type }: { type: string } = JSON.parse(line);
  return `event: ${type}\ndata: ${line}\n\n`;
}
