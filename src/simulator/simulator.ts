/** Simulated providers: real HTTP servers on loopback that speak the vendors' wire, answer, and break on demand. */
import type { ProviderServer } from './provider-server.ts';
import { type SimulationOptions, withDefaults } from './settings.ts';
import { controlOf, type SimulatorControl } from './simulator-control.ts';
import type { VendorName } from './vendors/vendor.ts';
import {
  baseUrlOf,
  closeWorld,
  newWorld,
  openFor,
  type ProviderSpec,
  stateOf,
  type World,
} from './world.ts';

export type SimulatedProvider = {
  readonly name: string;
  readonly vendor: VendorName;
  /** The base URL as the vendor's SDK takes it. */
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  /** What an entry for it must say besides its kind and its URL. */
  readonly settings: Readonly<Record<string, string>>;
};

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
   * 0 (default) = any free ports; a number = the control port, and the next four for openai,
   * anthropic, gemini and bedrock; or one by one.
   */
  readonly ports?: number | { readonly [name in VendorName | 'control']?: number };
};

/** The four vendors, each on a port of its own, and a control port. Rejects when a port is taken. */
export function startSimulator(options: SimulatorOptions = {}): Promise<Simulation<VendorName>> {
  const { ports = 0, ...rest } = options;
  const given = typeof ports === 'number' ? portsFrom(ports) : ports;
  const specs = {
    openai: { vendor: 'openai', port: given.openai ?? 0 },
    anthropic: { vendor: 'anthropic', port: given.anthropic ?? 0 },
    gemini: { vendor: 'gemini', port: given.gemini ?? 0 },
    bedrock: { vendor: 'bedrock', port: given.bedrock ?? 0 },
  } as const;
  return startProviders(specs, { ...rest, controlPort: given.control ?? 0 });
}

function portsFrom(first: number) {
  const at = (offset: number): number => (first === 0 ? 0 : first + offset);
  return { control: at(0), openai: at(1), anthropic: at(2), gemini: at(3), bedrock: at(4) };
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

function describe(world: World, name: string): SimulatedProvider {
  const { vendor } = stateOf(world, name);
  const { origin = '', port = 0 } = world.servers.get(name) ?? {};
  const { settings = {} } = vendor;
  return { name, vendor: vendor.name, url: baseUrlOf(world, name), origin, port, settings };
}
