/** One life of a connection to Redis or Valkey: opened once, and over when either of its sockets is. */
import { createClient, ErrorReply } from '@redis/client';
import type { Clock } from '../../base/clock.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { RedisAddress } from './redis-address.ts';

/** Why the server cannot be used. `detail` is a code or a word of ours, never the server's own text. */
export type RedisFault = {
  readonly kind: 'unreachable' | 'refused' | 'slow' | 'failing';
  readonly detail: string;
};

type Client = ReturnType<typeof createClient>;

const openMsMax = 3_000;
/** Far above what breakers ask in the time that an answer is waited for. */
const commandsMax = 10_000;

export type RedisConnectionPorts = {
  readonly clock: Clock;
  /** The channel that is listened to, and what is called for each message there. */
  readonly channel: string;
  readonly onMessage: () => void;
  /** Called once, when it is lost after it was open. */
  readonly onLost: (fault: RedisFault) => void;
};

export class RedisConnection {
  readonly #commands: Client;
  /** A socket that listens takes no commands. */
  readonly #messages: Client;
  readonly #ports: RedisConnectionPorts;
  /** The first that went wrong. */
  #fault: RedisFault | null = null;
  readonly #ending = new AbortController();
  #isOpen = false;
  #isClosed = false;
  #onFirstFault: (fault: RedisFault) => void = () => undefined;

  constructor(address: RedisAddress, ports: RedisConnectionPorts) {
    this.#ports = ports;
    this.#commands = this.#client(address);
    this.#messages = this.#client(address);
  }

  /** Null = it is open. Called once. */
  async open(): Promise<RedisFault | null> {
    const failed = new Promise<RedisFault>((resolve) => {
      this.#onFirstFault = resolve;
    });
    const cancel = this.#ports.clock.schedule(openMsMax, () =>
      this.#fail({ kind: 'unreachable', detail: `no answer within ${openMsMax / 1000} s` }),
    );
    const fault = await Promise.race([failed, this.#shake()]);
    cancel();
    if (fault !== null) this.close();
    else this.#isOpen = true;
    return fault;
  }

  /** Resolves when the server answers, or the connection is lost: the caller sets the limit. */
  async send(command: readonly string[]): Promise<Result<unknown, RedisFault>> {
    try {
      return success(await this.#commands.sendCommand([...command]));
    } catch (error) {
      return fail(faultOf(error));
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // The client forgets a socket that is still connecting.
    this.#ending.abort();
    this.#onFirstFault(this.#fault ?? { kind: 'unreachable', detail: 'closed' });
    this.#commands.destroy();
    this.#messages.destroy();
  }

  async #shake(): Promise<RedisFault | null> {
    try {
      await this.#commands.connect();
      await this.#messages.connect();
      await this.#messages.subscribe(this.#ports.channel, () => this.#ports.onMessage());
      return null;
    } catch (error) {
      return this.#fault ?? faultOf(error);
    }
  }

  #client(address: RedisAddress): Client {
    const client: Client = createClient({
      url: address.url,
      // A connection that is lost is over: when to try again is decided in one place, on our clock.
      socket: {
        connectTimeout: openMsMax,
        reconnectStrategy: false,
        signal: this.#ending.signal,
      },
      disableOfflineQueue: true,
      commandsQueueMaxLength: commandsMax,
      maintNotifications: 'disabled',
      disableClientInfo: true,
    });
    client.on('error', (error: unknown) => this.#fail(faultOf(error)));
    return client;
  }

  #fail(fault: RedisFault): void {
    if (this.#fault !== null || this.#isClosed) return;
    this.#fault = fault;
    this.#onFirstFault(fault);
    if (!this.#isOpen) return;
    this.close();
    this.#ports.onLost(fault);
  }
}

/** The words of an error may hold an address, a user or worse: its code has to do. */
function faultOf(error: unknown): RedisFault {
  if (error instanceof ErrorReply) {
    const word = /^[A-Z]{2,20}\b/.exec(error.message)?.[0] ?? 'ERR';
    // A right that is missing inside a script is told in words alone.
    const isRefused = /^(NOAUTH|WRONGPASS|NOPERM)\b|\bAUTH\b|\bACL\b|permission|can't run/.test(
      error.message,
    );
    return { kind: isRefused ? 'refused' : 'failing', detail: word };
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isCode = /^[A-Z][A-Z0-9_]{1,60}$/.test(code);
  return { kind: 'unreachable', detail: isCode ? code : 'the connection was lost' };
}
