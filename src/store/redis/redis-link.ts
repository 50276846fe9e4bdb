/** Keeps a connection to Redis: opens it again when it is lost, and gives up on answers that take too long. */
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log-port.ts';
import { type Random, uniform } from '../../base/random.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { RedisScript } from './breaker-scripts.ts';
import type { RedisAddress } from './redis-address.ts';
import { RedisConnection, type RedisFault } from './redis-connection.ts';

/** An answer is waited for so long; then the server counts as slow until one comes in time. */
const answerMsMax = 500;
/** A process that stood still itself finds answers of that time only after its timers. */
const standstillMs = 20;
/** So long without any answer and the connection counts as dead. */
const silenceMsMax = 5_000;
const reopenMsMin = 200;
const reopenMsMax = 2_000;

export type ScriptCall = {
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** Called when an answer comes that nobody waits for any more. */
  readonly onLate?: () => void;
};

export type RedisLinkPorts = {
  readonly address: RedisAddress;
  readonly channel: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** In place of `answerMsMax`. */
  readonly patienceMs?: number;
  readonly onMessage: () => void;
  /** The server may answer again: ask it something. */
  readonly onOpen: () => void;
};

export class RedisLink {
  readonly #ports: RedisLinkPorts;
  #connection: RedisConnection | null = null;
  /** Also while it is being opened. */
  #opening: RedisConnection | null = null;
  #fault: RedisFault | null = { kind: 'unreachable', detail: 'no answer yet' };
  #sinceWallMs: number;
  #wasTold = false;
  #isClosed = false;
  #failures = 0;
  #late = 0;
  #cancelReopen: CancelTimer = () => undefined;
  #cancelSilence: CancelTimer = () => undefined;

  constructor(ports: RedisLinkPorts) {
    this.#ports = ports;
    this.#sinceWallMs = ports.clock.wallMs();
  }

  /** Why it cannot be used; null = the last answer came in time and was a good one. */
  get fault(): RedisFault | null {
    return this.#fault;
  }

  /** Since when that is so, wall-clock ms. */
  get sinceWallMs(): number {
    return this.#sinceWallMs;
  }

  /** Whether a question makes sense: there is a connection, and no older one waits for its answer. */
  get isAskable(): boolean {
    return this.#connection !== null && this.#late === 0;
  }

  /** Resolves after the first try, however that went. */
  async open(): Promise<void> {
    if (this.#isClosed) return;
    const { address, clock, channel, onMessage } = this.#ports;
    const connection = new RedisConnection(address, {
      clock,
      channel,
      onMessage,
      onLost: (fault) => this.#onLost(connection, fault),
    });
    this.#opening = connection;
    const fault = await connection.open();
    this.#opening = null;
    if (this.#isClosed) {
      connection.close();
    } else if (fault !== null) {
      this.#setFault(fault);
      this.#reopenLater();
    } else {
      this.#connection = connection;
      this.#ports.onOpen();
    }
  }

  /** An answer that `decode` makes nothing of counts as a fault of the server. */
  run<Answer>(
    script: RedisScript,
    call: ScriptCall,
    decode: (value: unknown) => Answer | null,
  ): Promise<Result<Answer, RedisFault>> {
    const connection = this.#connection;
    if (connection === null) return Promise.resolve(fail(this.#fault ?? lost));
    const answer = evaluate(connection, script, call).then((told): Result<Answer, RedisFault> => {
      if (!told.ok) return told;
      const decoded = decode(told.value);
      return decoded === null ? fail(foreign) : success(decoded);
    });
    return new Promise((resolve) => {
      let isLate = false;
      const { clock, patienceMs = answerMsMax } = this.#ports;
      let cancel = clock.schedule(patienceMs, () => {
        cancel = clock.schedule(standstillMs, () => {
          isLate = true;
          this.#noteLate(connection);
          resolve(fail(slow));
        });
      });
      void answer.then((result) => {
        cancel();
        if (isLate) {
          this.#noteLateAnswer(connection);
          call.onLate?.();
          return;
        }
        if (connection === this.#connection) this.#setFault(result.ok ? null : result.fault);
        resolve(result);
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelReopen();
    this.#cancelSilence();
    this.#opening?.close();
    this.#connection?.close();
    this.#connection = null;
  }

  #noteLate(connection: RedisConnection): void {
    if (connection !== this.#connection) return;
    this.#setFault(slow);
    this.#late += 1;
    if (this.#late > 1) return;
    this.#cancelSilence = this.#ports.clock.schedule(silenceMsMax, () => {
      connection.close();
      this.#onLost(connection, slow);
    });
  }

  #noteLateAnswer(connection: RedisConnection): void {
    if (connection !== this.#connection) return;
    this.#late -= 1;
    if (this.#late > 0) return;
    this.#cancelSilence();
    this.#ports.onOpen();
  }

  #onLost(connection: RedisConnection, fault: RedisFault): void {
    if (this.#isClosed || connection !== this.#connection) return;
    this.#connection = null;
    this.#late = 0;
    this.#cancelSilence();
    this.#setFault(fault);
    this.#reopenLater();
  }

  #reopenLater(): void {
    const { clock, random } = this.#ports;
    const fullMs = Math.min(reopenMsMin * 2 ** this.#failures, reopenMsMax);
    this.#failures = Math.min(this.#failures + 1, 10);
    const delayMs = uniform(random, fullMs / 2, fullMs);
    this.#cancelReopen = clock.schedule(delayMs, () => void this.open());
  }

  /** A line for each change of kind. */
  #setFault(fault: RedisFault | null): void {
    if (this.#isClosed) return;
    const before = this.#fault;
    this.#fault = fault;
    if (fault === null) this.#failures = 0;
    if (this.#wasTold && before?.kind === fault?.kind) return;
    this.#wasTold = true;
    this.#sinceWallMs = this.#ports.clock.wallMs();
    const { address, log } = this.#ports;
    const redis = address.shown;
    if (fault === null) {
      log.info('breakers are shared with the other instances', { redis });
      return;
    }
    const fields = { redis, fault: fault.kind, detail: fault.detail };
    log.warn('Redis cannot be used: breakers are this instance\u2019s own for now', fields);
  }
}

const foreign: RedisFault = { kind: 'failing', detail: 'an answer that is none' };
const slow: RedisFault = { kind: 'slow', detail: 'an answer did not come in time' };
const lost: RedisFault = { kind: 'unreachable', detail: 'the connection was lost' };

/** A server that was restarted does not know the script yet. */
async function evaluate(
  connection: RedisConnection,
  script: RedisScript,
  { keys, values }: ScriptCall,
): Promise<Result<unknown, RedisFault>> {
  const operands = [String(keys.length), ...keys, ...values];
  const known = await connection.send(['EVALSHA', script.sha, ...operands]);
  if (known.ok || known.fault.detail !== 'NOSCRIPT') return known;
  return connection.send(['EVAL', script.text, ...operands]);
}
