/** Parts of the documents that are made from the code, so that they cannot say something else. */
import { addedLatencyMsMax, bytesPerSlowStreamMax, scenarios } from '../../bench/scenarios.ts';
import { effectsTable } from '../../src/failure/effects.ts';
import { backoffDelayMs, type Jitter } from '../../src/resilience/backoff.ts';
import { retryPresets } from '../../src/routing/document/retry-presets.ts';
import { tierSchema } from '../../src/routing/document/tier-schema.ts';
import { durationMs } from '../../src/routing/duration.ts';
import { ranks } from '../architecture/ranks.ts';
import { limitsTable } from './limits-table.ts';
import { defaultTargetsTable, providerKindsTable } from './provider-kinds.ts';
import { providerSections } from './provider-sections.ts';
import { streamTranscripts } from './stream-transcripts.ts';
import { translationTables } from './translation-tables.ts';

export type GeneratedPart = {
  readonly path: string;
  readonly name: string;
  readonly content: () => string;
};

export const generatedParts: readonly GeneratedPart[] = [
  { path: 'README.md', name: 'error classes', content: effectsTable },
  { path: 'ARCHITECTURE.md', name: 'ranks', content: ranksTable },
  { path: 'ARCHITECTURE.md', name: 'cost', content: costTable },
  { path: 'README.md', name: 'default targets', content: defaultTargetsTable },
  { path: 'docs/configuration.md', name: 'provider kinds', content: providerKindsTable },
  { path: 'docs/providers.md', name: 'providers', content: providerSections },
  { path: 'docs/configuration.md', name: 'retry presets', content: presetsTable },
  { path: 'docs/resilience.md', name: 'error classes', content: effectsTable },
  { path: 'docs/resilience.md', name: 'backoff', content: backoffTable },
  { path: 'docs/resilience.md', name: 'limits', content: limitsTable },
  { path: 'docs/translation.md', name: 'translation', content: translationTables },
  ...[...streamTranscripts].map(([name, content]) => ({
    path: 'docs/streaming.md',
    name,
    content: () => content,
  })),
];

const holds: Readonly<Record<string, string>> = {
  base: 'clock, random, ids, JSON, results, the log port',
  chat: 'the canonical request, reply and stream events',
  framing: 'bytes into events',
  failure: 'error classes and their effects, classification, hints, redaction',
  dialects: 'one folder a protocol: client side, upstream side, error rules',
  resilience: 'backoff, deadlines, breakers, cooldowns, budgets, places in flight',
  transport: 'HTTP to providers',
  prompts: 'variants: load, choose, render',
  simulator: 'the simulated providers; shares nothing with the dialects',
  providers: 'one file a kind of provider',
  routing: 'the document: schema, validation, snapshots, versions',
  engine: 'plan, attempt, next step, failover, hold, hedge, alerts',
  'served-by': 'the log: record, ports for writing and reading',
  pipeline: 'the stages of a request, in order',
  store: 'SQLite and Redis behind the ports',
  telemetry: 'log lines, counters, the alert webhook',
  admin: 'use cases of the control plane',
  http: 'routes and sockets',
  composition: '`app.ts`, `env.ts`, `main.ts`, `cli/`: puts it together',
  idempotency: 'planned',
  guardrails: 'planned',
  'structured-output': 'planned',
  dashboard: 'planned',
  rehearsal: 'planned',
};

function ranksTable(): string {
  const rows = ranks.flatMap((folders, rank) =>
    folders.map((folder) => `| ${rank} | \`${folder}\` | ${holds[folder] ?? ''} |`),
  );
  return ['| rank | folder | holds |', '| --- | --- | --- |', ...rows].join('\n');
}

function costTable(): string {
  const rows = scenarios.map(({ name, floor, aim }) => {
    const aimed = aim > floor ? `, aim ${aim.toFixed(1)}` : '';
    return `| ${name} | >= ${floor.toFixed(1)} of its throughput${aimed} |`;
  });
  return [
    '| against the pass-through | bound |',
    '| --- | --- |',
    ...rows,
    `| median at a modest rate | <= ${addedLatencyMsMax} ms over asking the provider directly |`,
    `| memory of a slow stream | <= ${bytesPerSlowStreamMax / 1024} kB |`,
  ].join('\n');
}

function presetsTable(): string {
  const columns = ['jitter', 'base', 'mult', 'cap', 'attempts'] as const;
  const rows = Object.entries(retryPresets).map(([name, preset]) => {
    const values: Readonly<Record<string, string | number>> = preset;
    return `| \`${name}\` | ${columns.map((column) => values[column] ?? '').join(' | ')} |`;
  });
  return [
    `| preset | ${columns.join(' | ')} |`,
    `| --- |${' --- |'.repeat(columns.length)}`,
    ...rows,
  ].join('\n');
}

const jitterWords: Readonly<Record<Jitter, string>> = {
  decorrelated: 'U(base, 3 x the wait before), capped',
  full: 'U(0, base x mult^n, capped)',
  equal: 'base + U(0, base x mult^n), capped',
  proportional: 'base x mult^n + U(0, half of it), capped',
  none: 'base x mult^n, capped',
};

/** Draws that stand for the ends of a range. */
const lowest = { next: () => 0 };
const highest = { next: () => 1 };
const retriesShown = 3;

/** The waits of the shipped settings, lowest to highest. */
function backoffTable(): string {
  const { retry } = tierSchema.parse({ targets: [{ provider: 'one', model: 'm' }] });
  const policy = {
    baseMs: durationMs(retry.base) ?? 0,
    multiplier: retry.mult,
    capMs: durationMs(retry.cap) ?? 0,
  };
  const rows = Object.entries(jitterWords).map(([jitter, words]) => {
    const shown: string[] = [];
    let previousMs: number | null = null;
    for (let attempt = 0; attempt < retriesShown; attempt += 1) {
      const input = { policy: { ...policy, jitter: jitter as Jitter }, attempt, previousMs };
      const mostMs: number = backoffDelayMs({ ...input, random: highest });
      shown.push(rangeText(backoffDelayMs({ ...input, random: lowest }), mostMs));
      previousMs = mostMs;
    }
    return `| \`${jitter}\` | ${words} | ${shown.join(' | ')} |`;
  });
  return [
    '| `retry.jitter` | wait | 1st retry | 2nd | 3rd |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function rangeText(leastMs: number, mostMs: number): string {
  const least = `${leastMs / 1000}`;
  return leastMs === mostMs ? `${least} s` : `${least} to ${mostMs / 1000} s`;
}

/** `text` with the part between its markers replaced; throws when the markers are not there. */
export function withPart(text: string, part: GeneratedPart): string {
  const open = `<!-- generated: ${part.name} -->\n`;
  const start = text.indexOf(open);
  const end = text.indexOf('<!-- end -->', start);
  if (start === -1 || end === -1) throw new Error(`${part.path} has no place for "${part.name}"`);
  return `${text.slice(0, start + open.length)}\n${part.content()}\n\n${text.slice(end)}`;
}
