/** Runs one plan of the cut fuzz through the whole gateway, and says what is wrong with what came of it. */
import type { JsonObject } from '../../../src/base/json.ts';
import { silentLog } from '../../../src/base/log-port.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import { createAlerts } from '../../../src/engine/alerts.ts';
import { createEngine } from '../../../src/engine/failover.ts';
import { createHealthRegistry } from '../../../src/engine/health-registry.ts';
import { OverrideTable } from '../../../src/engine/override-table.ts';
import type { RequestTrace } from '../../../src/engine/trace.ts';
import { createPipeline } from '../../../src/pipeline/pipeline.ts';
import { createProviderBinder } from '../../../src/providers/bind.ts';
import { buildSnapshot } from '../../../src/routing/build-snapshot.ts';
import type { Snapshot } from '../../../src/routing/snapshot.ts';
import { validateDocument } from '../../../src/routing/validate.ts';
import { MemoryOrigins } from '../memory-origins.ts';
import { createMemoryRecorder } from '../memory-recorder.ts';
import { noTransport } from '../no-transport.ts';
import { shippedVariants } from '../shipped-variants.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { type CutPlan, cutPlan } from './cut-plan.ts';
import { CutProviders } from './cut-providers.ts';

/** What a run may take; a stall takes 30 s of it. */
const withinMs = 600_000;

type CutEnd = {
  readonly status: number;
  readonly raw: string;
  readonly trace: RequestTrace;
  /** Exchanges, timers and requests that are still there. */
  readonly leaks: number;
};

async function runCut(plan: CutPlan): Promise<CutEnd> {
  const clock = new VirtualClock();
  const random = seededRandom(plan.seed);
  const [a, b] = plan.upstreams;
  const providers = new CutProviders({
    random,
    telling: plan.telling,
    vendors: { a: a.vendor, b: b.vendor },
  });
  const recorder = createMemoryRecorder();
  const snapshot = snapshotOf(plan, clock);
  const health = createHealthRegistry({ clock, random });
  const alerts = createAlerts(silentLog, clock);
  const overrides = new OverrideTable();
  const engine = createEngine({ clock, random, transport: providers, health, alerts, overrides });
  const pipeline = createPipeline({
    clock,
    engine,
    recorder,
    origins: new MemoryOrigins(),
    snapshot: () => snapshot,
    decisions: [],
    log: silentLog,
    onEnd: () => undefined,
  });
  const answering = pipeline.answer({
    dialect: plan.form.dialect,
    tierInPath: 'fast',
    headers: plan.wantsMeta ? { 'x-tiergate-meta': 'body' } : {},
    body: Buffer.from(JSON.stringify(plan.form.body)),
    arrivedAtMs: 0,
    signal: new AbortController().signal,
    keyId: null,
  });
  const reading = answering.then(async (answer) => {
    if (answer.kind === 'gone') return { status: 0, raw: '' };
    if (answer.kind === 'whole') return { status: answer.status, raw: answer.body.toString() };
    const pieces: Buffer[] = [];
    for await (const chunk of answer.chunks) pieces.push(Buffer.from(chunk));
    return { status: 200, raw: Buffer.concat(pieces).toString('utf8') };
  });
  let ended: { readonly status: number; readonly raw: string } | null = null;
  void reading.then((end) => {
    ended = end;
  });
  while (ended === null && clock.monotonicMs() < withinMs) await clock.advance(5000);
  const { status, raw } = await Promise.race([reading, Promise.reject(new Error('no end'))]);
  await clock.advance(2000);
  const [trace] = recorder.traces;
  if (trace === undefined || recorder.traces.length > 1) throw new Error('not one row');
  health.close();
  return { status, raw, trace, leaks: providers.open + clock.pending + pipeline.inFlight() };
}

/**
 * What is wrong with the stream of that seed; null: it is exact, or honest. In a repetitive text a joint
 * may also be wrong and say so.
 */
export async function cutFault(seed: number, isRepetitive = false): Promise<string | null> {
  const plan = cutPlan(seed, isRepetitive);
  try {
    const end = await runCut(plan);
    const isDoubtful = end.trace.seams.some(({ uncertain }) => uncertain);
    return isRepetitive && isDoubtful && end.leaks === 0 ? null : await faultOf(plan, end);
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

async function faultOf(plan: CutPlan, end: CutEnd): Promise<string | null> {
  const { story, calls } = plan.telling;
  const { outcome, recovery, seams } = end.trace;
  if (end.leaks > 0) return `${end.leaks} leaks`;
  if (end.status !== 200) return outcome === 'failed' ? null : `status ${end.status}`;
  const heard = await plan.form.hear(end.raw);
  if (heard.ids.length > 1) return `ids ${heard.ids.join(', ')}`;
  if (heard.isComplete === heard.hasError) return 'neither complete nor an error';
  if (heard.isComplete !== (outcome === 'served')) return `heard otherwise than ${outcome}`;
  // Where nothing of an answer had come there is nothing to recover.
  const isForward = heard.hasError && heard.text !== '';
  if (isForward && recovery !== 'failed_forward') return `recovery ${recovery}`;
  if (!heard.hasError && recovery === 'failed_forward') return 'failed forward in silence';
  if (!story.startsWith(heard.text)) return `said: ${difference(story, heard.text)}`;
  const isWhole = seams.length === 0 || seams.at(-1)?.end === heard.text.length;
  if (!isWhole) return `seams end at ${seams.at(-1)?.end} of ${heard.text.length}`;
  if (!heard.isComplete) return null;
  if (heard.text !== story) return `lost the end: ${heard.text.length} of ${story.length}`;
  // Whoever goes on with a text says no more than the text.
  const isCallLost = seams.length === 0 && heard.calls.length < calls.length;
  if (heard.calls.length > calls.length || isCallLost) return `${heard.calls.length} calls`;
  const isExact = heard.calls.every(({ name, arguments: said }, at) => {
    const told = calls[at];
    return name === told?.name && canonical(said) === canonical(told.arguments);
  });
  return isExact ? null : `calls ${JSON.stringify(heard.calls)}`;
}

function canonical(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

function difference(story: string, text: string): string {
  let at = 0;
  while (story[at] === text[at]) at += 1;
  const around = (whole: string): string =>
    JSON.stringify(whole.slice(Math.max(0, at - 60), at + 60));
  return `at ${at} ${around(text)} for ${around(story)}`;
}

/** What kinds want beyond what all have. */
const ownFields: { readonly [kind: string]: JsonObject } = {
  bedrock: { region: 'us-east-1', api_keys: ['env:KEY'] },
};

const snapshots = new Map<string, Snapshot>();

function snapshotOf(plan: CutPlan, clock: VirtualClock): Snapshot {
  const { upstreams, prefill, holdTokens } = plan;
  const key = JSON.stringify([upstreams.map(({ kind }) => kind), prefill, holdTokens]);
  const known = snapshots.get(key) ?? built(plan, clock);
  snapshots.set(key, known);
  return known;
}

function built({ upstreams, prefill, holdTokens }: CutPlan, clock: VirtualClock): Snapshot {
  const named = upstreams.map((upstream, at) => ({ name: at === 0 ? 'a' : 'b', ...upstream }));
  const document = {
    providers: Object.fromEntries(
      named.map(({ name, kind, vendor: { basePath } }) => [
        name,
        { kind, base_url: `http://${name}${basePath}`, ...ownFields[kind] },
      ]),
    ),
    tiers: {
      fast: {
        hedge: false,
        stream: { hold_tokens: holdTokens, max_continuations: 3 },
        targets: named.map(({ name, model }) => ({
          provider: name,
          model,
          thinking: false,
          accepts_prefill: prefill !== 'none',
        })),
      },
    },
  };
  const resolveSecret = (): string => 'a-secret';
  const valid = validateDocument(document, { variants: shippedVariants, resolveSecret });
  if (!valid.ok) throw new Error(JSON.stringify(valid.fault.faults));
  return buildSnapshot({
    version: 1,
    createdAtMs: 0,
    valid: valid.value,
    variants: shippedVariants,
    bindProvider: createProviderBinder({
      dialectByName: (name) => upstreamDialects.get(name) ?? null,
      resolveSecret,
      clock,
      transport: noTransport,
    }),
  });
}
