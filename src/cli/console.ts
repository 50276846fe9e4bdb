/** What a command writes to and listens on, so that a test can stand in for the process. */

export type Console = {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Whether standard output is a terminal, and how wide. */
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly workingDirectory: string;
  /** Calls `listener` on each SIGINT and SIGTERM; the result stops it. */
  readonly onSignal: (listener: (signal: 'SIGINT' | 'SIGTERM') => void) => () => void;
  /** Calls `listener` with each error that nobody caught; the result stops it. */
  readonly onUncaught: (listener: (error: unknown, isRejection: boolean) => void) => () => void;
  /** Ends the process now. */
  readonly exit: (code: number) => void;
};

/** The process's own. A reader of our output that goes away (`| head`) is no error of ours. */
export function processConsole(): Console {
  const { stdout, stderr } = process;
  const ignore = (): void => undefined;
  stdout.on('error', ignore);
  stderr.on('error', ignore);
  return {
    write: (text) => void stdout.write(text),
    writeError: (text) => void stderr.write(text),
    isTerminal: stdout.isTTY === true,
    columns: stdout.columns ?? 80,
    workingDirectory: process.cwd(),
    onSignal: (listener) => {
      process.on('SIGINT', listener);
      process.on('SIGTERM', listener);
      return () => {
        process.off('SIGINT', listener);
        process.off('SIGTERM', listener);
      };
    },
    onUncaught: (listener) => {
      const onException = (error: unknown): void => listener(error, false);
      const onRejection = (error: unknown): void => listener(error, true);
      process.on('uncaughtException', onException);
      process.on('unhandledRejection', onRejection);
      return () => {
        process.off('uncaughtException', onException);
        process.off('unhandledRejection', onRejection);
      };
    },
    exit: (code) => process.exit(code),
  };
}
