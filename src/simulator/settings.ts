/** What a simulation is told when it starts; each default stands here once. */
import { type Clock, systemClock } from '../base/clock.ts';
import { type Log, silentLog } from '../base/log-port.ts';
import type { AuthRule, ModelRule } from './vendors/vendor.ts';

export type Pace = {
  /** Before the first content of a stream, and before a whole reply. */
  readonly firstTokenMs: number;
  /** Between two pieces of content. */
  readonly gapMs: number;
};

export const lifelikePace: Pace = { firstTokenMs: 300, gapMs: 25 };
export const instantPace: Pace = { firstTokenMs: 0, gapMs: 0 };

/** Fixed answers without checks or records: the upstream of a benchmark. */
export type LeanMode = {
  /** Words of an answer; a stream sends each as one event. */
  readonly words: number;
  /** Events that leave in one write, each write in a turn of its own; 0 = all in one. */
  readonly eventsPerWrite: number;
};

export type SimulationOptions = {
  readonly host?: string;
  readonly clock?: Clock;
  /** Decides ids and which requests a fault with a share strikes. */
  readonly seed?: number;
  readonly log?: Log;
  readonly pace?: Pace;
  readonly auth?: AuthRule;
  /** `any`: every name that is not plainly another vendor's. */
  readonly models?: ModelRule;
  /** Whether a request is held to the vendor's rules. */
  readonly isStrict?: boolean;
  /** Whether records keep credentials (for tests); over HTTP they are masked all the same. */
  readonly keepsCredentials?: boolean;
  readonly lean?: LeanMode | null;
  readonly bodyBytesMax?: number;
};

export type SimulationSettings = Required<SimulationOptions>;

export function withDefaults(options: SimulationOptions): SimulationSettings {
  return {
    host: '127.0.0.1',
    clock: systemClock,
    seed: 1,
    log: silentLog,
    pace: lifelikePace,
    auth: 'any',
    models: 'any',
    isStrict: true,
    keepsCredentials: false,
    lean: null,
    bodyBytesMax: 32 * 1_048_576,
    ...options,
  };
}
