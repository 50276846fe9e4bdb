/** What the command line asks of the composition root (`src/app.ts` implements `StartApp`). */
import type { JsonObject } from '../base/json.ts';
import type { Log } from '../base/log-port.ts';
import type { Result } from '../base/result.ts';
import type { RedisAddress } from '../store/redis/redis-address.ts';

export type AppOptions = {
  /** Absolute path of the document, or null: the database's, else one built from the keys found or simulated providers. */
  readonly configFile: string | null;
  readonly configMode: 'database' | 'file';
  /** Absolute; made (0700) when missing. Holds `tiergate.db`, `admin.key`, `served.spill`. */
  readonly dataDirectory: string;
  /** Absolute directory of the shipped prompts and, beside the document, the operator's. */
  readonly promptDirectories: readonly string[];
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** From the environment; null = made on the first start and kept in `DATA/admin.key`. */
  readonly adminKey: string | null;
  /** From the environment; null = the data plane is open on loopback. */
  readonly clientKey: string | null;
  /** The server through which breakers are shared with other instances; null = they are this process's own. */
  readonly redis: RedisAddress | null;
  /** What `env:NAME` references and the search for provider keys may see; blank variables are left out. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
};

/** Why the gateway did not start. `message` says what and what to do; `details` one line a problem. */
export type StartFault = {
  readonly code:
    | 'port_in_use'
    | 'address_unavailable'
    | 'config_invalid'
    | 'keys_missing'
    | 'database'
    | 'data_directory'
    | 'simulator'
    | 'other';
  readonly message: string;
  readonly details: readonly string[];
};

/** What the start banner says. */
export type AppFacts = {
  /** `http://127.0.0.1:8437`: the address a client on this machine uses. */
  readonly origin: string;
  readonly configVersion: number;
  /** `tiergate.yaml`, `database`, `provider keys in the environment`, `simulated providers`. */
  readonly configSource: string;
  /** In document order. `firstProvider` is the provider of the tier's first target; `config` as the document has it. */
  readonly tiers: readonly {
    readonly name: string;
    readonly firstProvider: string;
    readonly config: JsonObject;
  }[];
  /** The origin that takes `POST /_sim/faults`, or null when no provider is simulated. */
  readonly simulatorOrigin: string | null;
  /** Absolute path of the file with the admin key, or null when the key came from the environment. */
  readonly adminKeyFile: string | null;
  readonly isClientKeyRequired: boolean;
  /** Warnings to show once: unresolved secrets, a document that differs from the file. */
  readonly notices: readonly string[];
};

export type App = {
  readonly facts: AppFacts;
  /** Drains as the config says (`server.drain_delay`, `server.drain_timeout`), flushes the log, frees everything. */
  readonly drain: () => Promise<{ readonly cut: number }>;
  /** Ends at once; the log is flushed as far as that takes no waiting for clients. */
  readonly close: () => Promise<void>;
};

export type StartApp = (options: AppOptions) => Promise<Result<App, StartFault>>;
