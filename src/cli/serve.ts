/** `tiergate serve`: starts the gateway, says so, and ends it in order when told to. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log-port.ts';
import type { App, StartApp, StartFault } from '../http/app-ports.ts';
import { createProcessLog } from '../telemetry/process-log.ts';
import { startBanner } from './banner.ts';
import type { CommandRun } from './command-line.ts';
import type { Console } from './console.ts';
import { exposureFault, readServeSettings, type ServeSettings } from './serve-settings.ts';

/** What the shell reports of a process that a signal ended. */
const signalCodes = { SIGINT: 130, SIGTERM: 143 } as const;

export type ServeRun = CommandRun & {
  /** Called once the settings are sound: loading all of the gateway takes a moment. */
  readonly loadApp: () => Promise<StartApp>;
  readonly version: string;
};

/** Resolves when the gateway has ended, with the exit code. */
export async function runServe(run: ServeRun): Promise<number> {
  const { console, environment, flags } = run;
  const settings = readServeSettings(flags, environment, console.workingDirectory);
  if (!settings.ok) return complain(console, settings.fault);
  const exposed = exposureFault(settings.value, environment);
  if (exposed !== null) return complain(console, exposed);
  const { log, flush } = createProcessLog({
    level: settings.value.logLevel,
    isTerminal: console.isTerminal,
    hasColor: environment.wantsColor,
    write: console.write,
    secrets: [
      environment.adminKey,
      environment.clientKey,
      ...(settings.value.redis?.secrets ?? []),
    ].filter((secret) => secret !== null),
    clock: systemClock,
  });
  try {
    return await serve(run, settings.value, log);
  } finally {
    flush();
  }
}

async function serve(run: ServeRun, settings: ServeSettings, log: Log): Promise<number> {
  const { console, environment } = run;
  const signals = watchSignals(console);
  try {
    const startApp = await run.loadApp();
    const started = await startApp({
      ...settings,
      promptDirectories: promptDirectories(settings.configFile),
      adminKey: environment.adminKey,
      clientKey: environment.clientKey,
      environment: environment.references,
      log,
    });
    if (!started.ok) return complain(console, startComplaint(started.fault, settings));
    announce(run, started.value, log);
    return await untilEnded({ app: started.value, console, log, signals });
  } finally {
    signals.stop();
  }
}

type Signals = {
  /** The first signal, or the one that came before anyone waited. */
  readonly first: Promise<'SIGINT' | 'SIGTERM'>;
  readonly second: Promise<'SIGINT' | 'SIGTERM'>;
  readonly stop: () => void;
};

function watchSignals(console: Console): Signals {
  const first = Promise.withResolvers<'SIGINT' | 'SIGTERM'>();
  const second = Promise.withResolvers<'SIGINT' | 'SIGTERM'>();
  let count = 0;
  const stop = console.onSignal((signal) => {
    count += 1;
    if (count === 1) first.resolve(signal);
    else second.resolve(signal);
  });
  return { first: first.promise, second: second.promise, stop };
}

async function untilEnded(input: {
  readonly app: App;
  readonly console: Console;
  readonly log: Log;
  readonly signals: Signals;
}): Promise<number> {
  const { app, console, log, signals } = input;
  const broken = Promise.withResolvers<'broken'>();
  const stopWatching = console.onUncaught((error, isRejection) => {
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error('a fault inside the gateway that nobody caught', {
      alert: 'internal_error',
      error: told,
    });
    // What a rejection left behind is bounded by its request; after an exception nothing is certain.
    if (!isRejection) broken.resolve('broken');
  });
  try {
    const cause = await Promise.race([signals.first, broken.promise]);
    log.info('draining', { cause });
    const drained = await Promise.race([app.drain(), signals.second]);
    if (typeof drained === 'string') {
      log.warn('ended before the drain was done', { cause: drained });
      return signalCodes[drained];
    }
    log.info('ended', { cut: drained.cut });
    return cause === 'broken' ? 1 : 0;
  } finally {
    stopWatching();
  }
}

/** The shipped prompts, then those beside the document. */
function promptDirectories(configFile: string | null): readonly string[] {
  const shipped = fileURLToPath(new URL('../../prompts', import.meta.url));
  if (configFile === null) return [shipped];
  const own = join(dirname(configFile), 'prompts');
  return own === shipped ? [shipped] : [shipped, own];
}

/** With people before it (a terminal, or a first try) the commands; else one line like every other. */
function announce({ console, environment, version }: ServeRun, app: App, log: Log): void {
  const { facts } = app;
  const { workingDirectory } = console;
  if (console.isTerminal || facts.simulatorOrigin !== null) {
    console.write(startBanner({ version, facts, workingDirectory }));
  } else {
    log.info('listening', {
      origin: facts.origin,
      config_version: facts.configVersion,
      config_source: facts.configSource,
      version,
    });
    for (const notice of facts.notices) log.warn(notice);
  }
  for (const name of environment.unused) log.warn(`${name} is set and not used by this version`);
}

type Complaint = { readonly code: 1 | 2; readonly lines: readonly string[] };

function startComplaint(fault: StartFault, { port, dataDirectory }: ServeSettings): Complaint {
  const advice: Partial<Record<StartFault['code'], string>> = {
    port_in_use: `End what listens on port ${port}, or choose another: --port N (0 = any free one).`,
    data_directory: `The data directory is ${dataDirectory}; choose another with --data DIR.`,
    config_invalid: 'Nothing was changed. Correct it and start again.',
  };
  const more = advice[fault.code];
  const details = fault.details.map((detail) => `  ${detail}`);
  return { code: 1, lines: [fault.message, ...details, ...(more === undefined ? [] : [more])] };
}

function complain(console: Console, { code, lines }: Complaint): number {
  const [first = 'it did not start', ...rest] = lines;
  console.writeError(`tiergate serve: ${first}\n`);
  for (const line of rest) console.writeError(`${line}\n`);
  return code;
}
