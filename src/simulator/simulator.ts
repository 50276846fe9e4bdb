/** Simulated providers: real HTTP servers on loopback that speak the vendors' wire, answer, and break on demand. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { seededRandom } from '../base/random.ts';
import {
  type ControlPorts,
  handleControl,
  isControlPath,
  type ProviderStatus,
} from './control/control-routes.ts';
import { type RequestRecord, RequestRing } from './control/request-ring.ts';
import { type ExchangePorts, exchange } from './exchange.ts';
import { type Fault, type FaultKind, faultOfKind } from './faults/fault.ts';
import { FaultBoard } from './faults/fault-board.ts';
import { leanResponder } from './lean-replies.ts';
import { openProviderServer, type ProviderServer } from './provider-server.ts';
import { newProviderState, type ProviderState } from './provider-state.ts';
import { parseScript, type ScriptedCall } from './script/scripted-call.ts';
import { type SimulationOptions, type SimulationSettings, withDefaults } from './settings.ts';
import { anthropicVendor } from './vendors/anthropic/anthropic-vendor.ts';
import { geminiVendor } from './vendors/gemini/gemini-vendor.ts';
import { openaiVendor } from './vendors/openai/openai-vendor.ts';
import type { Vendor, VendorName } from './vendors/vendor.ts';

const vendors: { readonly [name in VendorName]: Vendor } = {
  openai: openaiVendor,
  anthropic: anthropicVendor,
  gemini: geminiVendor,
};

export type SimulatedProvider = {
  readonly name: string;
  readonly vendor: VendorName;
  /** The base URL as the vendor's SDK takes it. */
  readonly url: string;
  readonly origin: string;
  readonly port: number;
};

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

export type ProviderSpec = { readonly vendor: VendorName; readonly port?: number };

export type Simulation<Name extends string> = {
  readonly providers: { readonly [name in Name]: SimulatedProvider };
  readonly control: SimulatorControl<Name>;
  /** A port of its own for `/_sim`, which no fault closes. */
  readonly controlUrl: string;
  /** Resolves when every socket is closed. */
  readonly close: () => Promise<void>;
};

export type SimulatorOptions = SimulationOptions & {
  /**
   * 0 (default) = any free ports; a number = the control port, and the next three for openai,
   * anthropic and gemini; or one by one.
   */
  readonly ports?: number | { readonly [name in VendorName | 'control']?: number };
};

/** The three vendors, each on a port of its own, and a control port. Rejects when a port is taken. */
export function startSimulator(options: SimulatorOptions = {}): Promise<Simulation<VendorName>> {
  const { ports = 0, ...rest } = options;
  const given = typeof ports === 'number' ? portsFrom(ports) : ports;
  const specs = {
    openai: { vendor: 'openai', port: given.openai ?? 0 },
    anthropic: { vendor: 'anthropic', port: given.anthropic ?? 0 },
    gemini: { vendor: 'gemini', port: given.gemini ?? 0 },
  } as const;
  return startProviders(specs, { ...rest, controlPort: given.control ?? 0 });
}

function portsFrom(first: number) {
  const at = (offset: number): number => (first === 0 ? 0 : first + offset);
  return { control: at(0), openai: at(1), anthropic: at(2), gemini: at(3) };
}

/** Any number of providers under names of the caller's choice. Rejects when a port is taken. */
export async function startProviders<Name extends string>(
  specs: { readonly [name in Name]: ProviderSpec },
  { controlPort = 0, ...options }: SimulationOptions & { readonly controlPort?: number } = {},
): Promise<Simulation<Name>> {
  const world = newWorld(specs, withDefaults(options));
  const opened: ProviderServer[] = [];
  try {
    for (const [name, spec] of Object.entries<ProviderSpec>(specs)) {
      const server = await openFor(world, name, spec.port ?? 0);
      opened.push(server);
      world.servers.set(name, server);
    }
    const controlServer = await openFor(world, null, controlPort);
    opened.push(controlServer);
    const providers = Object.fromEntries(
      [...world.states.keys()].map((name) => [name, describe(world, name)]),
    ) as { readonly [name in Name]: SimulatedProvider };
    return {
      providers,
      control: controlOf(world),
      controlUrl: controlServer.origin,
      close: () => closeWorld(world, opened),
    };
  } catch (error) {
    await closeWorld(world, opened);
    throw error;
  }
}

type World = {
  readonly settings: SimulationSettings;
  readonly states: ReadonlyMap<string, ProviderState>;
  readonly servers: Map<string, ProviderServer>;
  readonly board: FaultBoard;
  readonly ring: RequestRing;
  readonly listeners: Set<() => void>;
  readonly changed: () => void;
  isStopping: boolean;
};

function newWorld(
  specs: { readonly [name: string]: ProviderSpec },
  settings: SimulationSettings,
): World {
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const servers = new Map<string, ProviderServer>();
  const board = new FaultBoard({
    clock: settings.clock,
    random: seededRandom(settings.seed),
    onChange: () => {
      for (const [name, server] of servers) server.setDown(board.isDown(name));
      changed();
    },
  });
  const states = new Map(
    Object.entries(specs).map(([name, { vendor }]) => [
      name,
      newProviderState(name, vendors[vendor]),
    ]),
  );
  return {
    settings,
    states,
    servers,
    board,
    ring: new RequestRing(),
    listeners,
    changed,
    isStopping: false,
  };
}

async function closeWorld(world: World, opened: readonly ProviderServer[]): Promise<void> {
  world.isStopping = true;
  world.board.clear(null);
  await Promise.all(opened.map((server) => server.close()));
}

/** The server of a provider, or of control alone when `name` is null. */
function openFor(world: World, name: string | null, port: number): Promise<ProviderServer> {
  const state = name === null ? null : stateOf(world, name);
  const { host, clock, log } = world.settings;
  return openProviderServer({
    host,
    port,
    clock,
    log,
    handle: handlerFor(world, state),
    idleCloseMs: () => state?.idleCloseMs ?? null,
  });
}

function handlerFor(world: World, state: ProviderState | null) {
  const { settings, board, ring } = world;
  const lean =
    settings.lean === null || state === null ? null : leanResponder(state.vendor, settings.lean);
  const ports: ExchangePorts = {
    settings,
    board,
    ring,
    isStopping: () => world.isStopping,
    onChange: world.changed,
  };
  /** A fault of the simulator itself ends its connection, not the process. */
  const guarded = (handled: Promise<void>, response: ServerResponse): void => {
    handled.catch((error: unknown) => {
      const message = error instanceof Error ? error.message : 'unknown';
      settings.log.error('the simulator failed at a request', { error: message });
      response.destroy();
    });
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    const url = request.url ?? '/';
    if (state === null || isControlPath(url)) {
      guarded(handleControl(request, response, controlPorts(world)), response);
    } else if (lean !== null && board.isEmpty && state.script === null) {
      state.requests += 1;
      state.calls += 1;
      lean(request, response);
    } else {
      guarded(exchange(state, { request, response }, ports), response);
    }
  };
}

function stateOf(world: World, name: string): ProviderState {
  const state = world.states.get(name);
  if (state === undefined) {
    throw new Error(
      `no simulated provider "${name}"; there are ${[...world.states.keys()].join(', ')}`,
    );
  }
  return state;
}

function describe(world: World, name: string): SimulatedProvider {
  const { vendor } = stateOf(world, name);
  const { origin = '', port = 0 } = world.servers.get(name) ?? {};
  return { name, vendor: vendor.name, url: `${origin}${vendor.basePath}`, origin, port };
}

function controlPorts(world: World): ControlPorts {
  return {
    host: world.settings.host,
    board: world.board,
    ring: world.ring,
    providerNames: [...world.states.keys()],
    setScript: (name, calls) => {
      const state = stateOf(world, name);
      state.script = calls;
      state.scriptedCalls = 0;
    },
    status: () =>
      Object.fromEntries([...world.states.keys()].map((name) => [name, statusOf(world, name)])),
  };
}

function statusOf(world: World, name: string): ProviderStatus {
  const state = stateOf(world, name);
  return {
    vendor: state.vendor.name,
    url: describe(world, name).url,
    requests: state.requests,
    calls: state.calls,
    open_requests: state.openRequests,
    open_sockets: world.servers.get(name)?.openSockets() ?? 0,
    is_scripted: state.script !== null,
  };
}

function controlOf<Name extends string>(world: World): SimulatorControl<Name> {
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
