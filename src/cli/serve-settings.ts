/** What `serve` runs with: flags before environment before defaults, each checked and named in its fault. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fail, type Result, success } from '../base/result.ts';
import type { Environment } from '../env.ts';
import { isLoopbackName } from '../http/request-guard.ts';
import { type RedisAddress, readRedisAddress } from '../store/redis/redis-address.ts';
import { type LogLevel, logLevels } from '../telemetry/process-log.ts';
import type { Flag, FlagValues } from './flags.ts';

export type ServeSettings = {
  /** Absolute, or null: none was named and there is none in the working directory. */
  readonly configFile: string | null;
  readonly configMode: 'database' | 'file';
  readonly dataDirectory: string;
  readonly host: string;
  readonly port: number;
  readonly logLevel: LogLevel;
  /** Null = the breakers of this process are its own. */
  readonly redis: RedisAddress | null;
};

export type SettingsFault = {
  /** 2: said wrongly. 1: said rightly, but it may not or cannot be. */
  readonly code: 1 | 2;
  readonly lines: readonly string[];
};

export const serveFlags: readonly Flag[] = [
  {
    name: 'config',
    kind: 'text',
    placeholder: 'FILE',
    summary: 'the document (TIERGATE_CONFIG; ./tiergate.yaml or .json when it exists)',
  },
  {
    name: 'config-mode',
    kind: 'text',
    placeholder: 'database|file',
    summary: 'where the truth is kept (TIERGATE_CONFIG_MODE; database)',
  },
  {
    name: 'data',
    kind: 'text',
    placeholder: 'DIR',
    summary: 'database and admin key (TIERGATE_DATA; ./data)',
  },
  {
    name: 'host',
    kind: 'text',
    placeholder: 'H',
    summary: 'address to listen on (HOST; 127.0.0.1)',
  },
  {
    name: 'port',
    kind: 'text',
    placeholder: 'N',
    summary: 'port to listen on, 0 = any free one (PORT; 8437)',
  },
];

const defaults = { host: '127.0.0.1', port: '8437', data: 'data', mode: 'database', level: 'info' };
const defaultFiles = ['tiergate.yaml', 'tiergate.yml', 'tiergate.json'];

/** A value and where it came from, for the message when it is wrong. */
type Said = { readonly value: string; readonly by: string };

export function readServeSettings(
  flags: FlagValues,
  environment: Environment,
  workingDirectory: string,
): Result<ServeSettings, SettingsFault> {
  if (environment.faults.length > 0) return fail({ code: 1, lines: environment.faults });
  const say = (flag: string, variable: string, set: string | null, otherwise: string): Said => {
    const given = flags.text(flag);
    if (given !== null) return { value: given, by: `--${flag}` };
    return { value: set ?? otherwise, by: variable };
  };
  const port = say('port', 'PORT', environment.port, defaults.port);
  const host = say('host', 'HOST', environment.host, defaults.host);
  const mode = say('config-mode', 'TIERGATE_CONFIG_MODE', environment.configMode, defaults.mode);
  const level = { value: environment.logLevel ?? defaults.level, by: 'LOG_LEVEL' };
  const data = say('data', 'TIERGATE_DATA', environment.dataDirectory, defaults.data);
  const redis = redisOf(environment.redisUrl);
  const lines = [
    portFault(port),
    hostFault(host),
    modeFault(mode),
    levelFault(level),
    redis.ok ? null : redis.fault,
  ].filter((line) => line !== null);
  if (lines.length > 0) return fail({ code: 2, lines });
  const configFile = findConfig(flags.text('config') ?? environment.configFile, workingDirectory);
  if (!configFile.ok) return fail({ code: 1, lines: [configFile.fault] });
  if (mode.value === 'file' && configFile.value === null) {
    const line = `${mode.by} is "file", and there is no file: name it with --config`;
    return fail({ code: 2, lines: [line] });
  }
  return success({
    configFile: configFile.value,
    configMode: mode.value === 'file' ? 'file' : 'database',
    dataDirectory: resolve(workingDirectory, data.value),
    host: host.value.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port.value),
    logLevel: level.value as LogLevel,
    redis: redis.ok ? redis.value : null,
  });
}

/** Beyond loopback both keys must exist; else the two commands that make them. */
export function exposureFault(
  settings: ServeSettings,
  environment: Environment,
): SettingsFault | null {
  if (isLoopbackName(settings.host)) return null;
  const hasAdminKey =
    environment.adminKey !== null || existsSync(join(settings.dataDirectory, 'admin.key'));
  if (hasAdminKey && environment.clientKey !== null) return null;
  return {
    code: 1,
    lines: [
      `listening on ${settings.host} would let the network in without a key. Make both keys first:`,
      '  export TIERGATE_ADMIN_KEY=$(openssl rand -hex 32)',
      '  export TIERGATE_CLIENT_KEY=$(openssl rand -hex 32)',
      'or listen on this machine alone: --host 127.0.0.1',
    ],
  };
}

function findConfig(named: string | null, directory: string): Result<string | null, string> {
  if (named !== null) {
    const file = resolve(directory, named);
    return existsSync(file) ? success(file) : fail(`there is no file ${file} (--config)`);
  }
  const found = defaultFiles.map((name) => join(directory, name)).find((file) => existsSync(file));
  return success(found ?? null);
}

function redisOf(url: string | null): Result<RedisAddress | null, string> {
  if (url === null) return success(null);
  const read = readRedisAddress(url);
  return read.ok ? read : fail(`REDIS_URL ${read.fault}`);
}

function portFault({ value, by }: Said): string | null {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return null;
  return `${by} is no port: a whole number from 0 to 65535`;
}

function hostFault({ value, by }: Said): string | null {
  return /^[\w.:[\]%-]{1,253}$/.test(value) ? null : `${by} is no address or host name`;
}

function modeFault({ value, by }: Said): string | null {
  return value === 'database' || value === 'file' ? null : `${by} must be "database" or "file"`;
}

function levelFault({ value, by }: Said): string | null {
  return logLevels.some((level) => level === value)
    ? null
    : `${by} must be one of ${logLevels.join(', ')}`;
}
