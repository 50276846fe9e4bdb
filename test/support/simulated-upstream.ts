/** Simulated providers for tests, under the names of the cases: p1 and p1b speak OpenAI, p2 and p2b Anthropic, p3 and p3b Gemini, p5 Bedrock. */
import { systemClock } from '../../src/base/clock.ts';
import { parseJson } from '../../src/base/json.ts';
import type { RequestRecord } from '../../src/simulator/control/request-ring.ts';
import type { ScriptedCall } from '../../src/simulator/script/scripted-call.ts';
import { instantPace, type SimulationOptions } from '../../src/simulator/settings.ts';
import { type SimulatedProvider, startProviders } from '../../src/simulator/simulator.ts';
import type { SimulatorControl } from '../../src/simulator/simulator-control.ts';
import { type CaseScript, caseScript } from './case-script.ts';

export const upstreamNames = ['p1', 'p1b', 'p2', 'p2b', 'p3', 'p3b', 'p5'] as const;
export type UpstreamName = (typeof upstreamNames)[number];

const specs = {
  p1: { vendor: 'openai' },
  p1b: { vendor: 'openai' },
  p2: { vendor: 'anthropic' },
  p2b: { vendor: 'anthropic' },
  p3: { vendor: 'gemini' },
  p3b: { vendor: 'gemini' },
  p5: { vendor: 'bedrock' },
} as const;

export type SimulatedUpstream = {
  readonly providers: { readonly [name in UpstreamName]: SimulatedProvider };
  readonly control: SimulatorControl<UpstreamName>;
  readonly controlUrl: string;
  /** The base URL as the vendor's SDK takes it. */
  readonly url: (name: UpstreamName) => string;
  readonly script: (name: UpstreamName, calls: readonly ScriptedCall[]) => void;
  /** Sets what a case says under `given.pN`; throws when that is to be done by hand. */
  readonly given: (given: { readonly [name in UpstreamName]?: unknown }) => void;
  readonly requests: (name: UpstreamName) => readonly RequestRecord[];
  /** The bodies that `name` received, parsed (text where that is no JSON), oldest first. */
  readonly bodies: (name: UpstreamName) => readonly unknown[];
  /** Generation requests per provider, those with none left out. */
  readonly calls: () => { readonly [name in UpstreamName]?: number };
  /** Resolves once `isTrue()`; looked at whenever something happens upstream. Rejects after `timeoutMs` (5,000). */
  readonly until: (isTrue: () => boolean, timeoutMs?: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Instant, strict, and with credentials kept in the records unless `options` say otherwise. */
export async function startSimulatedUpstream(
  options: SimulationOptions = {},
): Promise<SimulatedUpstream> {
  const simulation = await startProviders(specs, {
    pace: instantPace,
    keepsCredentials: true,
    ...options,
  });
  const { providers, control, controlUrl, close } = simulation;
  return {
    providers,
    control,
    controlUrl,
    close,
    url: (name) => providers[name].url,
    script: control.script,
    given: (given) => {
      for (const name of upstreamNames) {
        if (given[name] !== undefined) applyGiven(control, name, caseScript(given[name]));
      }
    },
    requests: control.requests,
    bodies: (name) => control.requests(name).map(bodyOf),
    calls: () => {
      const counts = upstreamNames.map((name) => [name, control.calls(name)] as const);
      return Object.fromEntries(counts.filter(([, count]) => count > 0));
    },
    until: (isTrue, timeoutMs = 5_000) => until(control, isTrue, timeoutMs),
  };
}

function applyGiven(
  control: SimulatorControl<UpstreamName>,
  name: UpstreamName,
  script: CaseScript,
): void {
  switch (script.kind) {
    case 'calls':
      control.script(name, script.calls);
      return;
    case 'idle_close':
      control.closeIdleAfter(name, script.afterMs);
      return;
    case 'by_hand':
      throw new Error(`given.${name} is to be set by hand: ${script.words}`);
  }
}

/** The body of a record, parsed; its text where that is no JSON. */
export function bodyOf(record: RequestRecord): unknown {
  const text = record.body.toString('utf8');
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

function until(
  control: SimulatorControl<UpstreamName>,
  isTrue: () => boolean,
  timeoutMs: number,
): Promise<void> {
  if (isTrue()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      cancel();
      unsubscribe();
      settle();
    };
    const cancel = systemClock.schedule(timeoutMs, () =>
      end(() => reject(new Error(`not true within ${timeoutMs} ms: ${isTrue}`))),
    );
    const unsubscribe = control.onChange(() => {
      if (isTrue()) end(resolve);
    });
  });
}
