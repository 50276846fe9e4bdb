/** The breakers' fleet over Redis or Valkey: asked twice a second, and at once when another instance says so. */
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { randomHex } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Log } from '../../base/log-port.ts';
import type { Random } from '../../base/random.ts';
import type {
  BreakerFleet,
  FleetClaim,
  FleetPlace,
  FleetRecord,
} from '../../resilience/breaker/breaker-fleet.ts';
import {
  decodeClaimed,
  decodeRecords,
  decodeWritten,
  encodeState,
  wholeNumber,
  wholeText,
} from './breaker-record.ts';
import {
  claimScript,
  greetScript,
  keepScript,
  readScript,
  writeScript,
} from './breaker-scripts.ts';
import type { RedisAddress } from './redis-address.ts';
import type { RedisFault } from './redis-connection.ts';
import { RedisLink } from './redis-link.ts';

/** A gateway does not start later than this because of a server that is silent. */
const startMsMax = 1_000;
/** Bounds how long a lost message can hide a change. */
const lookEveryMs = 500;
/** A flood of messages costs no more looks than this. */
const looksApartMs = 20;
const recordsPerRead = 100;
/** An instance that does not look for so long is gone. */
const instanceMs = 5_000;
const channel = 'tiergate:breakers';
const instancesKey = 'tiergate:instances';

export type RedisFleetPorts = {
  readonly address: RedisAddress;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How long an answer is waited for; absent = half a second. */
  readonly patienceMs?: number;
};

type Hearer = (record: FleetRecord) => void;

export class RedisFleet implements BreakerFleet {
  readonly #clock: Clock;
  readonly #address: string;
  readonly #link: RedisLink;
  readonly #instance = randomHex(8);
  readonly #hearers = new Map<string, Hearer>();
  #instances: number | null = null;
  #claims = 0;
  #isLooking = false;
  #isLookWanted = false;
  #isClosed = false;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #cancelLook: CancelTimer = () => undefined;

  constructor(ports: RedisFleetPorts) {
    this.#clock = ports.clock;
    this.#address = ports.address.shown;
    this.#link = new RedisLink({
      ...ports,
      channel,
      onMessage: () => this.#lookSoon(),
      onOpen: () => this.#lookSoon(),
    });
  }

  /** Resolves when the server has been asked once, or was not to be reached, or after `withinMs`. */
  async start(withinMs = startMsMax): Promise<void> {
    const { promise: overdue, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.schedule(withinMs, resolve);
    await Promise.race([this.#link.open().then(() => this.#look()), overdue]);
    cancel();
  }

  /** Null = what breakers decide is shared now. */
  fault(): RedisFault | null {
    return this.#link.fault;
  }

  /** The fault in words. */
  faultLine(): string | null {
    const { fault } = this.#link;
    if (fault === null) return null;
    return `Redis cannot be used (${fault.kind}: ${fault.detail}): each instance decides alone`;
  }

  /** As the control plane shows it; `instances` counts this one too, and is null while nobody can be seen. */
  status(): JsonObject {
    const { fault, sinceWallMs } = this.#link;
    return {
      state: fault === null ? 'shared' : 'alone',
      since: new Date(sinceWallMs).toISOString(),
      redis: this.#address,
      fault: fault === null ? null : `${fault.kind}: ${fault.detail}`,
      instances: fault === null ? this.#instances : null,
    };
  }

  readonly join = (target: string, hear: Hearer): FleetPlace => {
    const keys = [`tiergate:breaker:${target}`];
    this.#hearers.set(target, hear);
    this.#lookSoon();
    const isReachable = (): boolean => this.#link.fault === null;
    return {
      isReachable,
      write: (generation, state, answered) => {
        if (!isReachable()) {
          answered(null);
          return;
        }
        const values = [wholeText(generation), ...encodeState(state)];
        const decode = (value: unknown) => decodeWritten(value, this.#instance);
        void this.#link.run(writeScript, { keys, values }, decode).then((answer) => {
          answered(answer.ok ? answer.value : null);
        });
      },
      claim: (generation, leaseMs, answered) => {
        if (!isReachable()) {
          answered(null);
          return;
        }
        const { right, keep } = this.#right(keys);
        const values = [wholeText(generation), ...right, wholeText(leaseMs)];
        // A right that comes when nobody waits for it any more would keep others from probing.
        const call = { keys, values, onLate: () => keep(0) };
        const decode = (value: unknown) => decodeClaimed(value, this.#instance);
        void this.#link.run(claimScript, call, decode).then((answer) => {
          const claimed = answer.ok ? answer.value : null;
          if (claimed?.kind !== 'granted') answered(claimed);
          else answered({ kind: 'granted', claim: claimOf(claimed.forMs, keep) });
        });
      },
      leave: () => {
        this.#hearers.delete(target);
      },
    };
  };

  /** What was sent before is still sent: rights that were given back free the others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook();
    await this.#greet(0);
    this.#link.close();
  }

  #right(keys: readonly string[]) {
    this.#claims += 1;
    const right = [this.#instance, String(this.#claims)];
    const keep = (leaseMs: number): void => {
      const values = [...right, wholeText(leaseMs)];
      void this.#link.run(keepScript, { keys, values }, wholeNumber);
    };
    return { right, keep };
  }

  #lookSoon(): void {
    if (this.#isLooking) {
      this.#isLookWanted = true;
      return;
    }
    const sinceMs = this.#clock.monotonicMs() - this.#lookedMs;
    this.#lookIn(Math.max(0, looksApartMs - sinceMs));
  }

  #lookIn(delayMs: number): void {
    this.#cancelLook();
    if (this.#isClosed) return;
    this.#cancelLook = this.#clock.schedule(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#isClosed) return;
    this.#cancelLook();
    this.#isLooking = true;
    this.#isLookWanted = false;
    this.#lookedMs = this.#clock.monotonicMs();
    if (await this.#greet(instanceMs)) await this.#readAll();
    this.#isLooking = false;
    this.#lookIn(this.#isLookWanted ? looksApartMs : lookEveryMs);
  }

  /** True when the server answered, and takes what is written. */
  async #greet(forMs: number): Promise<boolean> {
    if (!this.#link.isAskable) return false;
    const values = [this.#instance, String(forMs)];
    const call = { keys: [instancesKey], values };
    const answer = await this.#link.run(greetScript, call, wholeNumber);
    this.#instances = answer.ok ? answer.value : null;
    return answer.ok;
  }

  async #readAll(): Promise<void> {
    const targets = [...this.#hearers.keys()];
    const reads: Promise<void>[] = [];
    for (let at = 0; at < targets.length; at += recordsPerRead) {
      reads.push(this.#read(targets.slice(at, at + recordsPerRead)));
    }
    await Promise.all(reads);
  }

  async #read(targets: readonly string[]): Promise<void> {
    const keys = targets.map((target) => `tiergate:breaker:${target}`);
    const decode = (value: unknown) => decodeRecords(value, keys.length, this.#instance);
    const answer = await this.#link.run(readScript, { keys, values: [] }, decode);
    if (!answer.ok) return;
    for (const [index, record] of answer.value.entries()) {
      this.#hearers.get(targets[index] ?? '')?.(record);
    }
  }
}

function claimOf(forMs: number, keep: (leaseMs: number) => void): FleetClaim {
  return { forMs, use: keep, release: () => keep(0) };
}
