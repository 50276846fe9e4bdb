/** `tiergate demo`: twenty seconds of an outage, told while it happens and read back from the log. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startApp } from '../app.ts';
import { type Clock, sleep, systemClock } from '../base/clock.ts';
import { silentLog } from '../base/log-port.ts';
import type { App } from '../http/app-ports.ts';
import {
  type BreakerWord,
  type DemoAnswer,
  type DemoGateway,
  demoGateway,
} from './demo/demo-gateway.ts';
import { type DemoScreen, liveColumnsMin, liveScreen, plainScreen } from './demo/demo-screen.ts';
import {
  breakAtMs,
  endAtMs,
  lastAnswersMs,
  mendAtMs,
  questions,
  redrawEveryMs,
  requestEveryMs,
  settledMs,
  shortRests,
  tierName,
} from './demo/demo-story.ts';
import { isWholeStory, servingSpans, summaryLines } from './demo/demo-summary.ts';
import { columnMs, type DemoTally, demoTally } from './demo/demo-tally.ts';

export type DemoOptions = {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  /** Width of the terminal. */
  readonly columns: number;
  /** Ends the demo early. */
  readonly signal: AbortSignal;
};

/** The exit code: 0 when the log shows primary, fallback, primary; 1 when not; 130 when ended early. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tiergate-demo-'));
  try {
    return await demoIn(folder, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function demoIn(folder: string, options: DemoOptions): Promise<number> {
  const started = await startApp({
    configFile: null,
    configMode: 'database',
    redis: null,
    dataDirectory: folder,
    promptDirectories: [fileURLToPath(new URL('../../prompts', import.meta.url))],
    host: '127.0.0.1',
    port: 0,
    adminKey: null,
    clientKey: null,
    environment: {},
    log: silentLog,
  });
  if (!started.ok) {
    options.write(`the demo could not start: ${started.fault.message}\n`);
    for (const detail of started.fault.details) options.write(`  ${detail}\n`);
    return 1;
  }
  const app = started.value;
  try {
    return await play(app, options);
  } catch (error) {
    if (options.signal.aborted) return 130;
    options.write(`the demo broke off: ${error instanceof Error ? error.message : error}\n`);
    return 1;
  } finally {
    await app.close();
  }
}

async function play(app: App, options: DemoOptions): Promise<number> {
  const { simulatorOrigin, adminKeyFile, origin, tiers } = app.facts;
  const provider = tiers.find(({ name }) => name === tierName)?.firstProvider;
  if (simulatorOrigin === null || adminKeyFile === null || provider === undefined) {
    throw new Error(`it needs simulated providers and the tier ${tierName}`);
  }
  const gateway = demoGateway({
    origin,
    simulatorOrigin,
    adminKey: (await readFile(adminKeyFile, 'utf8')).trim(),
    tier: tierName,
    monotonicMs: systemClock.monotonicMs,
    signal: options.signal,
  });
  const targets = await gateway.targets();
  await gateway.shortenRests(shortRests);
  const { write, columns } = options;
  const timeColumns = Math.ceil(endAtMs / columnMs);
  const screen =
    options.isTerminal && columns >= liveColumnsMin
      ? liveScreen({ write, columns, tier: tierName, timeColumns })
      : plainScreen({ write, tier: tierName });
  try {
    await new Outage({ gateway, screen, provider, targets, signal: options.signal }).run();
  } finally {
    screen.close();
  }
  if (options.signal.aborted) return 130;
  const rows = await gateway.servedRows();
  const primary = targets[0] ?? '';
  write(`\n${summaryLines(rows, primary).join('\n')}\n`);
  write('\nNow try it by hand: npm start\n');
  return isWholeStory(servingSpans(rows), primary) ? 0 : 1;
}

/** The connection itself failed: what a client sees when nobody is there. */
const noAnswer: DemoAnswer = {
  isServed: false,
  target: null,
  attempts: 0,
  failovers: 0,
  latencyMs: 0,
};

type OutageParts = {
  readonly gateway: DemoGateway;
  readonly screen: DemoScreen;
  readonly provider: string;
  readonly targets: readonly string[];
  readonly signal: AbortSignal;
};

/** The story itself: steady traffic, one fault that comes and goes, and a look at the breakers. */
class Outage {
  readonly #parts: OutageParts;
  readonly #clock: Clock = systemClock;
  readonly #startedMs = systemClock.monotonicMs();
  readonly #tally: DemoTally;
  readonly #running = new Set<Promise<void>>();
  #breakers: ReadonlyMap<string, BreakerWord> = new Map();
  #asked = 0;

  constructor(parts: OutageParts) {
    this.#parts = parts;
    this.#tally = demoTally(parts.targets);
  }

  async run(): Promise<void> {
    const { screen, provider } = this.#parts;
    screen.tell(0, `steady traffic to the tier; ${this.#parts.targets[0]} comes first`);
    const acts = [
      { atMs: breakAtMs, run: () => this.#break(provider) },
      { atMs: mendAtMs, run: () => this.#mend(provider) },
    ];
    let nextRequestMs = 0;
    while (!this.#parts.signal.aborted && !this.#isOver()) {
      const act = acts[0];
      if (act !== undefined && this.#elapsedMs() >= act.atMs) {
        acts.shift();
        await act.run();
      }
      if (this.#elapsedMs() >= nextRequestMs) {
        nextRequestMs += requestEveryMs;
        this.#ask();
      }
      await this.#look();
      await sleep(this.#clock, redrawEveryMs, this.#parts.signal);
    }
    await Promise.race([
      Promise.all(this.#running),
      sleep(this.#clock, lastAnswersMs, this.#parts.signal),
    ]);
    await this.#look();
  }

  #elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#startedMs;
  }

  /** Over when the primary has served for a while after it was mended, or when the time is up. */
  #isOver(): boolean {
    const elapsedMs = this.#elapsedMs();
    if (elapsedMs >= endAtMs) return true;
    const serving = this.#tally.serving();
    if (serving === null || serving.target !== this.#parts.targets[0]) return false;
    return serving.sinceMs > mendAtMs && elapsedMs - serving.sinceMs >= settledMs;
  }

  #ask(): void {
    const question = questions[this.#asked % questions.length] ?? '';
    this.#asked += 1;
    const asking = this.#parts.gateway.ask(question).then(
      (answer) => this.#tally.record(answer, this.#elapsedMs()),
      () => this.#tally.record(noAnswer, this.#elapsedMs()),
    );
    this.#running.add(asking);
    void asking.finally(() => this.#running.delete(asking));
  }

  async #break(provider: string): Promise<void> {
    await this.#parts.gateway.overload(provider);
    this.#parts.screen.tell(this.#elapsedMs(), `${provider} breaks: it answers "overloaded"`);
  }

  async #mend(provider: string): Promise<void> {
    await this.#parts.gateway.mend();
    this.#parts.screen.tell(
      this.#elapsedMs(),
      `${provider} is well again; the next probe will see it`,
    );
  }

  /** Reads the breakers, tells what changed, draws. */
  async #look(): Promise<void> {
    const breakers = await this.#parts.gateway.breakers();
    const elapsedMs = this.#elapsedMs();
    for (const target of this.#parts.targets) {
      const before = this.#breakers.get(target) ?? 'closed';
      const now = breakers.get(target) ?? 'closed';
      this.#tally.recordBreaker(target, now, elapsedMs);
      if (before === 'closed' && now === 'open') {
        this.#parts.screen.tell(elapsedMs, `the breaker of ${target} opens`);
      }
      if (before !== 'closed' && now === 'closed') {
        this.#parts.screen.tell(elapsedMs, `the breaker of ${target} closes`);
      }
    }
    this.#breakers = new Map(
      this.#parts.targets.map((target) => [target, breakers.get(target) ?? 'closed']),
    );
    this.#parts.screen.draw({
      elapsedMs,
      tally: this.#tally,
      waiting: this.#running.size,
      breakers: this.#breakers,
    });
  }
}
