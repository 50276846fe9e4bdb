/** The process's log on pino: JSON lines, or one readable line each on a terminal. */
import pino from 'pino';
import type { Clock } from '../base/clock.ts';
import type { Log, LogFields } from '../base/log-port.ts';
import { createRedaction } from './redaction.ts';
import { limitRepeats, repeatLimits } from './repeated-lines.ts';
import { terminalLine } from './terminal-line.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type ProcessLogOptions = {
  readonly level: LogLevel;
  readonly isTerminal: boolean;
  readonly hasColor: boolean;
  /** Takes one line with its end. */
  readonly write: (line: string) => void;
  /** Secrets of this process: taken out wherever they stand. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
};

export type ProcessLog = {
  readonly log: Log;
  /** Writes what was held back; call it before the process ends. */
  readonly flush: () => void;
};

export function createProcessLog(options: ProcessLogOptions): ProcessLog {
  const { isTerminal, hasColor, write, clock } = options;
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock.wallMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: isTerminal ? (line) => write(terminalLine(line, hasColor)) : write },
  );
  const redaction = createRedaction(options.secrets);
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields?: LogFields): void => {
      if (!logger.isLevelEnabled(level)) return;
      if (fields === undefined) logger[level](redaction.text(message));
      else logger[level](redaction.fields(fields), redaction.text(message));
    };
  const plain: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const limited = limitRepeats(plain, clock, repeatLimits);
  return { log: limited, flush: limited.flush };
}
