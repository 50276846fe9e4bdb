/** `tiergate simulate`: the simulated providers alone, for other processes to call and for people to break. */

import { instantPace, lifelikePace } from '../simulator/settings.ts';
import { type SimulatedProvider, startSimulator } from '../simulator/simulator.ts';

export type SimulateOptions = {
  readonly host: string;
  /** The control port; the providers take the four that follow. 0 = any free ports. */
  readonly port: number;
  readonly write: (text: string) => void;
  /** Whether requests must carry some credential (any one is good). Default: no. */
  readonly isKeyRequired?: boolean;
  /** Whether answers come at once instead of at a lifelike pace. Default: no. */
  readonly isInstant?: boolean;
  /** Decides ids and shares. */
  readonly seed?: number;
  /** Ends it, as SIGTERM and SIGINT do. */
  readonly signal?: AbortSignal;
};

type Running = Awaited<ReturnType<typeof startSimulator>>;

/** Runs until it is told to stop. The exit code: 0, or 1 when a port cannot be had. */
export async function runSimulate(options: SimulateOptions): Promise<number> {
  const { host, port, write } = options;
  let running: Running;
  try {
    running = await startSimulator({
      host,
      ports: port,
      auth: options.isKeyRequired === true ? 'any' : 'open',
      pace: options.isInstant === true ? instantPace : lifelikePace,
      seed: options.seed ?? 1,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    write(`The simulated providers could not start: ${reason}\n`);
    if (port !== 0)
      write(`They need the ports ${port} to ${port + 4}; choose others with --port.\n`);
    return 1;
  }
  write(banner(running));
  await stopped(options.signal);
  await running.close();
  write('Stopped.\n');
  return 0;
}

function stopped(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off('SIGTERM', stop);
      process.off('SIGINT', stop);
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
  });
}

function banner({ providers, controlUrl }: Running): string {
  const all: readonly SimulatedProvider[] = Object.values(providers);
  const faults = `${controlUrl}/_sim/faults`;
  return `Simulated providers are listening. As base URLs:

${all.map(({ name, url }) => `  ${name.padEnd(10)} ${url}`).join('\n')}
  ${'control'.padEnd(10)} ${controlUrl}/_sim

In tiergate.yaml:

  providers:
${all.map(entryOf).join('\n')}

Break one for a minute, and mend it:

  curl -s -X POST ${faults} -d '{"provider":"${all[0]?.name}","fault":"overload","for":"60s"}'
  curl -s -X DELETE ${faults}

See what came in, and every fault there is:

  curl -s ${controlUrl}/_sim/requests
  curl -s ${controlUrl}/_sim

Ctrl-C stops.
`;
}

function entryOf({ name, url, settings }: SimulatedProvider): string {
  const fields = Object.entries({ kind: name, base_url: `"${url}"`, ...settings });
  return `    ${name}: { ${fields.map(([field, value]) => `${field}: ${value}`).join(', ')} }`;
}
