/** What a client sees of a stream in each case, as the gateway sends it: run in virtual time, for docs/streaming.md. */
import type { JsonObject } from '../../src/base/json.ts';
import type { Seam } from '../../src/engine/trace.ts';
import { type ClientForm, type ProviderName, VirtualGateway } from '../support/virtual-gateway.ts';
import type { Behaviour } from '../support/virtual-providers.ts';
import { inOrder } from '../support/virtual-providers.ts';

type Case = {
  readonly name: string;
  readonly form?: ClientForm;
  readonly behaviours: { readonly [name in ProviderName]?: Behaviour };
  readonly stream?: JsonObject;
  readonly targets?: { readonly [name in ProviderName]?: JsonObject };
};

const first =
  'The sky is blue because the air scatters short waves of light far more than long ones,';
const rest = ' and blue light has the shorter waves.';
const end = ['FIN:stop', 'DONE'];
const cut = inOrder(
  { sse: ['ROLE', `T:${first}`, 'SLEEP:200', 'CUT'] },
  { sse: ['ROLE', `T:waves of light far more than long ones,${rest}`, ...end] },
);
const failForward = { on_interrupt: 'fail_forward' };

const cases: readonly Case[] = [
  {
    name: 'silent restart',
    behaviours: {
      p1: inOrder(
        { sse: ['ROLE', 'T:The sky', 'SLEEP:200', 'CUT'] },
        { sse: ['ROLE', 'T:Because of the air.', ...end] },
      ),
    },
  },
  { name: 'continuation', behaviours: { p1: cut } },
  {
    name: 'uncertain joint',
    behaviours: {
      p1: inOrder(
        { sse: ['ROLE', `T:${first}`, 'SLEEP:200', 'CUT'] },
        { sse: ['ROLE', `T:Sure, continuing:\n\n${rest}`, ...end] },
      ),
    },
  },
  { name: 'fail forward', behaviours: { p1: cut }, stream: failForward },
  { name: 'fail forward messages', form: 'messages', behaviours: { p1: cut }, stream: failForward },
  { name: 'fail forward gemini', form: 'gemini', behaviours: { p1: cut }, stream: failForward },
  {
    name: 'slow start',
    behaviours: { p1: inOrder({ sse: ['ROLE', 'SLEEP:58000', 'T:Because of the air.', ...end] }) },
  },
  { name: 'failure after the head', behaviours: { p1: inOrder('silent') } },
  {
    name: 'malformed event',
    behaviours: {
      p1: inOrder({
        sse: ['ROLE', 'T:Because of', 'RAW:data: {"choices":[{"del\\n\\n', 'T: the air.', ...end],
      }),
    },
  },
  {
    name: 'no terminator',
    behaviours: { p1: inOrder({ sse: ['ROLE', 'T:Because of the air.', 'FIN:stop', 'END'] }) },
  },
];

async function transcriptOf({ form = 'chat', behaviours, stream = {}, targets }: Case) {
  const gateway = new VirtualGateway({
    tier: Object.keys(behaviours) as ProviderName[],
    behaviours,
    policies: { hedge: false, retry: { base: '100ms', jitter: 'none' }, stream },
    ...(targets === undefined ? {} : { targets }),
  });
  const ask = await gateway.askWithin(130_000, { form });
  const { outcome, recovery, seams, attempts, malformedEvents, serving, status } =
    gateway.lastTrace;
  const row = [
    `outcome ${outcome}`,
    `status ${status}`,
    `recovery ${recovery}`,
    `target ${serving?.target ?? 'none'}`,
    `attempts ${attempts.length}`,
    ...(seams.length > 0 ? [`seams ${seams.map(seamLine).join(' | ')}`] : []),
    ...(malformedEvents > 0 ? [`malformed_events ${malformedEvents}`] : []),
  ];
  const head = Object.entries(ask.headers)
    .filter(([name]) => /^x-tiergate-(served-by|attempts|recovery)$/.test(name))
    .map(([name, value]) => `${name}: ${value}`);
  const firstMs = ask.pieces[0]?.atMs ?? 0;
  const lines = [
    `${time(firstMs)}  HTTP ${ask.status}${head.map((line) => `  ${line}`).join('')}`,
    ...ask.pieces.flatMap(({ atMs, text }) =>
      eventsIn(text).map((line) => `${time(atMs)}  ${line}`),
    ),
    `row      ${row.join(', ')}`,
  ];
  return ['```text', ...lines.map(withoutIds), '```'].join('\n');
}

function seamLine({ target, start, end, uncertain }: Seam): string {
  return `${start} to ${end} by ${target}${uncertain ? ' uncertain' : ''}`;
}

function time(ms: number): string {
  return `${(ms / 1000).toFixed(2).padStart(5)} s`;
}

/** One line an event; a blank line of its own is shown as such. */
function eventsIn(text: string): readonly string[] {
  if (text.trim() === '') return ['(a blank line)'];
  return text
    .split(/\r\n\r\n|\n\n/)
    .filter((block) => block.trim() !== '')
    .map((block) => block.trim().replace(/\r?\n/g, '  '));
}

/** Ids differ from run to run. */
function withoutIds(line: string): string {
  return line.replace(
    /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    '019b5e...',
  );
}

const told = await Promise.all(
  cases.map(async (one) => [one.name, await transcriptOf(one)] as const),
);

/** By name, each a fenced block. */
export const streamTranscripts: ReadonlyMap<string, string> = new Map(told);
