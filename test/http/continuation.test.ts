/** A stream that breaks is gone on with by another target, over real sockets: what a client of each dialect is sent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import type { ScriptedCall } from '../../src/simulator/script/scripted-call.ts';
import { readStream } from '../support/answer-readers.ts';
import { CaseGateway } from '../support/case-gateway.ts';
import type { ProviderName } from '../support/running-gateway.ts';
import type { ClientForm } from '../support/virtual-gateway.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

const words = Array.from({ length: 60 }, (_, index) => `w${index + 1}`);
const story = words.join(' ');
const told = words.slice(0, 40).join(' ');
const tokens = words.slice(0, 40).map((word, index) => `T:${index === 0 ? '' : ' '}${word}`);
const breaksOff: ScriptedCall = { sse: ['ROLE', ...tokens, 'SLEEP:40', 'CUT'] };

type Client = {
  readonly form: ClientForm;
  /** Speaks the client's own dialect: its frames pass as they are until it breaks. */
  readonly first: ProviderName;
  readonly path: (tier: string) => string;
  readonly body: (tier: string) => JsonObject;
  /** The id under which an event goes; null where events of its kind tell none. */
  readonly idIn: (event: JsonObject) => unknown;
};

const messages = [{ role: 'user', content: 'Tell me a story.' }];
const contents = [{ role: 'user', parts: [{ text: 'Tell me a story.' }] }];
const within = (name: string, event: JsonObject): unknown => {
  const object = event[name];
  return isJsonObject(object) ? object['id'] : undefined;
};

const clients: readonly Client[] = [
  {
    form: 'chat',
    first: 'p1',
    path: () => '/v1/chat/completions',
    body: (model) => ({ model, messages, stream: true, stream_options: { include_usage: true } }),
    idIn: ({ id }) => id,
  },
  {
    form: 'responses',
    first: 'p4',
    path: () => '/v1/responses',
    body: (model) => ({ model, input: messages, stream: true }),
    idIn: (event) => within('response', event),
  },
  {
    form: 'messages',
    first: 'p2b',
    path: () => '/v1/messages',
    body: (model) => ({ model, messages, stream: true, max_tokens: 1000 }),
    idIn: (event) => within('message', event),
  },
  {
    form: 'gemini',
    first: 'p3',
    path: (tier) => `/v1beta/models/${tier}:streamGenerateContent?alt=sse`,
    body: () => ({ contents }),
    idIn: ({ responseId }) => responseId,
  },
  {
    form: 'gemini array',
    first: 'p3',
    path: (tier) => `/v1beta/models/${tier}:streamGenerateContent`,
    body: () => ({ contents }),
    idIn: ({ responseId }) => responseId,
  },
];

type Way = {
  readonly name: string;
  readonly second: ProviderName;
  readonly goesOn: ScriptedCall;
  /** Who speaks last in each request that the second target gets. */
  readonly asked: readonly ('assistant' | 'user')[];
};

const ways: readonly Way[] = [
  {
    name: 'with a prefill',
    second: 'p2',
    goesOn: { story },
    asked: ['assistant'],
  },
  {
    name: 'in words, once its prefill is refused',
    second: 'p2',
    goesOn: { story, prefill: false },
    asked: ['assistant', 'user'],
  },
  {
    name: 'in words, where no prefill is taken',
    second: 'p1b',
    goesOn: { story, prefill: false },
    asked: ['user'],
  },
];

async function ask(client: Client, tier: string) {
  const headers = { 'x-tiergate-meta': 'body' };
  const response = await cases.gateway.post(client.path(tier), client.body(tier), { headers });
  expect(response.status).toBe(200);
  const raw = await response.text();
  const events = eventsIn(client.form, raw);
  return {
    raw,
    events,
    said: await readStream(client.form, raw),
    row: await cases.rowOf(response),
    headers: response.headers,
  };
}

function eventsIn(form: ClientForm, raw: string): readonly JsonObject[] {
  if (form === 'gemini array') return JSON.parse(raw);
  return raw
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

describe.each(clients)('R41 R44 a client of $form', (client) => {
  it.each(ways)('whose stream breaks gets its rest, asked for $name', async (way) => {
    const { first } = client;
    const { second, goesOn, asked } = way;
    const tier = await cases.tier(
      [first, second],
      { [first]: [breaksOff], [second]: [goesOn] },
      { policies: { breaker: { failures: 1, min_span: '0s' } } },
    );
    const { raw, events, said, row, headers } = await ask(client, tier);
    const [from, to] = [cases.targetOf(first), cases.targetOf(second)];

    expect(said).toMatchObject({ text: story, isComplete: true, error: null });
    const ids = new Set(events.map(client.idIn).filter((id) => id !== undefined));
    expect(ids.size).toBe(1);
    expect(headers.get('x-tiergate-served-by')).toBe(from);

    const requests = cases.bodies(second);
    expect(requests.map(({ messages }) => messages.at(-1).role)).toEqual(asked);
    expect(raw).not.toMatch(/prefill/i);
    const instruction = JSON.stringify(requests.at(-1)?.messages.at(-1));
    if (asked.at(-1) === 'user') {
      expect(instruction).toContain('Go on from the exact point where it stops.');
      expect(instruction).toContain(words.slice(32, 40).join(' '));
    }

    const comments = raw.split('\n').filter((line) => line.startsWith(': continued'));
    const joint = `: continued by ${to} after ${from} broke off`;
    expect(comments).toEqual(client.form.startsWith('gemini') ? [] : [joint]);

    const seams = [
      { target: from, start: 0, end: told.length, attempt: 1 },
      { target: to, start: told.length, end: story.length, attempt: asked.length + 1 },
    ].map((seam) => ({ ...seam, uncertain: false }));
    expect(events.at(-1)).toMatchObject({
      tiergate: { served_by: to, recovery: 'continued', attempts: asked.length + 1, seams },
    });
    expect(row).toMatchObject({
      outcome: 'served',
      status: 200,
      target: to,
      recovery: 'continued',
      seams,
      failed_over: true,
    });
    expect(row.attempts.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      'first failed',
      ...(asked.length > 1 ? ['continuation failed'] : []),
      'continuation served',
    ]);

    const sum = (field: string): number =>
      row.attempts.reduce((total, attempt) => total + Number(attempt[field] ?? 0), 0);
    expect(row).toMatchObject({
      input_tokens: sum('input_tokens'),
      output_tokens: sum('output_tokens'),
    });
    expect(said.usage).toEqual({ input: sum('input_tokens'), output: sum('output_tokens') });
  });
});

describe('R41 who is named while the stream flows', () => {
  const modelsOf = async (form: ClientForm, read: (event: JsonObject) => unknown) => {
    const client = clients.find((one) => one.form === form) as Client;
    const { first } = client;
    const tier = await cases.tier(
      [first, 'p2'],
      { [first]: [breaksOff], p2: [{ story }] },
      { policies: { breaker: { failures: 1, min_span: '0s' } } },
    );
    const { events } = await ask(client, tier);
    const models = events.map(read).filter((model) => model !== undefined);
    // Each model once for every run of events that name it.
    return models.filter((model, index) => model !== models[index - 1]);
  };

  it.each([
    ['chat', 'p1', ({ model }: JsonObject) => model],
    ['gemini', 'p3', ({ modelVersion }: JsonObject) => modelVersion],
  ] as const)('each chunk of %s names the model that wrote it', async (form, first, read) => {
    expect(await modelsOf(form, read)).toEqual([cases.modelOf(first), cases.modelOf('p2')]);
  });

  it('a message names the model that began it, which is told once', async () => {
    const model = ({ message }: JsonObject) =>
      isJsonObject(message) ? message['model'] : undefined;
    expect(await modelsOf('messages', model)).toEqual([cases.modelOf('p2b')]);
  });
});

it('R41 the usage of both parts is added up, to the client and in the row', async () => {
  const tier = await cases.tier(
    ['p1', 'p2'],
    {
      p1: [{ sse: ['ROLE', ...tokens, 'USAGE:11:40', 'SLEEP:40', 'CUT'] }],
      p2: [
        {
          sse: [
            'ROLE',
            ...words.slice(40).map((word) => `T: ${word}`),
            'FIN:end_turn',
            'USAGE:60:20',
            'DONE',
          ],
        },
      ],
    },
    { policies: { breaker: { failures: 1, min_span: '0s' } } },
  );
  const { stream, row } = await cases.stream(tier, { stream_options: { include_usage: true } });
  expect(stream).toMatchObject({ text: story, isDone: true });
  const usages = stream.events.flatMap(({ usage }) => usage ?? []);
  expect(usages.at(-1)).toMatchObject({ prompt_tokens: 71, completion_tokens: 60 });
  expect(row).toMatchObject({ input_tokens: 71, output_tokens: 60 });
});
