/** What the servers of one simulation share: the providers' states, the faults, the records. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { seededRandom } from '../base/random.ts';
import {
  type ControlPorts,
  handleControl,
  isControlPath,
  type ProviderStatus,
} from './control/control-routes.ts';
import { RequestRing } from './control/request-ring.ts';
import { type ExchangePorts, exchange } from './exchange.ts';
import { FaultBoard } from './faults/fault-board.ts';
import { leanResponder } from './lean-replies.ts';
import { openProviderServer, type ProviderServer } from './provider-server.ts';
import { newProviderState, type ProviderState } from './provider-state.ts';
import type { SimulationSettings } from './settings.ts';
import { anthropicVendor } from './vendors/anthropic/anthropic-vendor.ts';
import { bedrockVendor } from './vendors/bedrock/bedrock-vendor.ts';
import { geminiVendor } from './vendors/gemini/gemini-vendor.ts';
import { openaiVendor } from './vendors/openai/openai-vendor.ts';
import type { Vendor, VendorName } from './vendors/vendor.ts';

export const vendors: { readonly [name in VendorName]: Vendor } = {
  openai: openaiVendor,
  anthropic: anthropicVendor,
  gemini: geminiVendor,
  bedrock: bedrockVendor,
};

/** `port` 0 (default) = any free one. */
export type ProviderSpec = { readonly vendor: VendorName; readonly port?: number };

export type World = {
  readonly settings: SimulationSettings;
  readonly states: ReadonlyMap<string, ProviderState>;
  readonly servers: Map<string, ProviderServer>;
  readonly board: FaultBoard;
  readonly ring: RequestRing;
  readonly listeners: Set<() => void>;
  readonly changed: () => void;
  isStopping: boolean;
};

export function newWorld(
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

/** Ends faults and servers; resolves when every socket is closed. */
export async function closeWorld(world: World, opened: readonly ProviderServer[]): Promise<void> {
  world.isStopping = true;
  world.board.clear(null);
  await Promise.all(opened.map((server) => server.close()));
}

/** The server of a provider, or of control alone when `name` is null. */
export function openFor(world: World, name: string | null, port: number): Promise<ProviderServer> {
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

/** Throws for a name that is none of the simulation's. */
export function stateOf(world: World, name: string): ProviderState {
  const state = world.states.get(name);
  if (state === undefined) {
    throw new Error(
      `no simulated provider "${name}"; there are ${[...world.states.keys()].join(', ')}`,
    );
  }
  return state;
}

/** The base URL of a provider as its vendor's SDK takes it. */
export function baseUrlOf(world: World, name: string): string {
  return `${world.servers.get(name)?.origin ?? ''}${stateOf(world, name).vendor.basePath}`;
}

export function controlPorts(world: World): ControlPorts {
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
    url: baseUrlOf(world, name),
    requests: state.requests,
    calls: state.calls,
    open_requests: state.openRequests,
    open_sockets: world.servers.get(name)?.openSockets() ?? 0,
    is_scripted: state.script !== null,
  };
}
