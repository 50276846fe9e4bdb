/** Steering a simulation from the process that runs it. */
import type { RequestRecord } from './control/request-ring.ts';
import { type Fault, type FaultKind, faultOfKind } from './faults/fault.ts';
import { parseScript, type ScriptedCall } from './script/scripted-call.ts';
import { controlPorts, stateOf, type World } from './world.ts';

/** Steers a running simulation from the same process. */
export type SimulatorControl<Name extends string = string> = {
  /** What `provider` does with its next generation requests; the last call repeats. Throws on a script that is wrong. */
  readonly script: (provider: Name, calls: readonly ScriptedCall[]) => void;
  /** Strikes at once; `forMs` null (default) = until cleared. */
  readonly fault: (
    provider: Name,
    kind: FaultKind,
    settings?: Partial<Omit<Fault, 'kind'>>,
  ) => void;
  /** Ends faults and scripts, of all providers or of one. */
  readonly clear: (provider?: Name) => void;
  /** What came in, oldest first; live objects (see `RequestRecord`). */
  readonly requests: (provider?: Name) => readonly RequestRecord[];
  readonly forgetRequests: () => void;
  /** Generation requests received. */
  readonly calls: (provider: Name) => number;
  readonly openRequests: (provider: Name) => number;
  readonly openSockets: (provider: Name) => number;
  /** Closes each connection this long after its last answer; null = keep them. */
  readonly closeIdleAfter: (provider: Name, ms: number | null) => void;
  /** Called after anything above may have changed; the result unsubscribes. */
  readonly onChange: (listener: () => void) => () => void;
};

export function controlOf<Name extends string>(world: World): SimulatorControl<Name> {
  const { setScript } = controlPorts(world);
  return {
    script: (provider, calls) => {
      const parsed = parseScript(calls);
      if (!parsed.ok) throw new Error(`script of ${provider}: ${parsed.fault}`);
      setScript(provider, parsed.value);
    },
    fault: (provider, kind, settings) => {
      stateOf(world, provider);
      if (world.board.add(provider, faultOfKind(kind, settings)) === null) {
        throw new Error('too many faults in force');
      }
    },
    clear: (provider) => {
      world.board.clear(provider ?? null);
      for (const name of provider === undefined ? world.states.keys() : [provider])
        setScript(name, null);
    },
    requests: (provider) => world.ring.list(provider ?? null),
    forgetRequests: () => world.ring.clear(),
    calls: (provider) => stateOf(world, provider).calls,
    openRequests: (provider) => stateOf(world, provider).openRequests,
    openSockets: (provider) => {
      stateOf(world, provider);
      return world.servers.get(provider)?.openSockets() ?? 0;
    },
    closeIdleAfter: (provider, ms) => {
      stateOf(world, provider).idleCloseMs = ms;
    },
    onChange: (listener) => {
      world.listeners.add(listener);
      return () => world.listeners.delete(listener);
    },
  };
}
