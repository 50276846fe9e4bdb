/** A console that keeps what was written and sends signals when told. */
import type { Console } from '../../../src/cli/console.ts';

type Signal = 'SIGINT' | 'SIGTERM';

export class FakeConsole implements Console {
  out = '';
  err = '';
  readonly columns = 80;
  readonly isTerminal: boolean;
  readonly workingDirectory: string;
  readonly #signals = new Set<(signal: Signal) => void>();
  readonly #uncaught = new Set<(error: unknown, isRejection: boolean) => void>();

  constructor(workingDirectory = '/nowhere', isTerminal = true) {
    this.workingDirectory = workingDirectory;
    this.isTerminal = isTerminal;
  }

  readonly write = (text: string): void => {
    this.out += text;
  };

  readonly writeError = (text: string): void => {
    this.err += text;
  };

  readonly onSignal = (listener: (signal: Signal) => void): (() => void) => {
    this.#signals.add(listener);
    return () => this.#signals.delete(listener);
  };

  readonly onUncaught = (listener: (error: unknown, isRejection: boolean) => void) => {
    this.#uncaught.add(listener);
    return () => void this.#uncaught.delete(listener);
  };

  readonly exit = (): void => undefined;

  send(signal: Signal): void {
    for (const listener of this.#signals) listener(signal);
  }

  break(error: unknown, isRejection: boolean): void {
    for (const listener of this.#uncaught) listener(error, isRejection);
  }

  get listeners(): number {
    return this.#signals.size + this.#uncaught.size;
  }
}
