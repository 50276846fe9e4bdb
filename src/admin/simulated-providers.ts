/** The simulated providers of a gateway that was given neither a document nor a key. */
import type { Closers } from '../base/closers.ts';
import type { Log } from '../base/log-port.ts';
import { fail, type Result, success } from '../base/result.ts';
import type { ConfigSource } from './config-seed.ts';

export type SimulatedProviders = {
  readonly baseUrls: Readonly<Record<string, string>>;
  /** Where faults are set; null = nothing is simulated. */
  readonly origin: string | null;
};

export async function startSimulated(
  source: ConfigSource,
  { closers, log }: { readonly closers: Closers; readonly log: Log },
): Promise<Result<SimulatedProviders, string>> {
  if (source.kind !== 'simulated') return success({ baseUrls: {}, origin: null });
  try {
    // Loaded for a demo alone: nobody else pays for it in start-up time and memory.
    const { startSimulatorAtHome } = await import('../simulator/default-ports.ts');
    const simulation = await startSimulatorAtHome({ auth: 'open' });
    closers.add(() => simulation.close());
    const urls = Object.entries(simulation.providers).map(([name, { url }]) => [name, url]);
    return success({ baseUrls: Object.fromEntries(urls), origin: simulation.controlUrl });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.error('the simulated providers did not start', { reason });
    return fail(`the simulated providers did not start: ${reason}`);
  }
}
