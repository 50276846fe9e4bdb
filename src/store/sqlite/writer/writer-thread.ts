/** The main thread's end of the writer thread: asks, matches replies, starts a new thread when one died. */
import { Worker } from 'node:worker_threads';
import { fail } from '../../../base/result.ts';
import { faultOfKind } from '../store-fault.ts';
import type {
  FromWriter,
  ToWriter,
  WriterReplies,
  WriterReply,
  WriterRequest,
} from './writer-protocol.ts';
import type { WriterSettings } from './writer-worker.ts';

/** What the recorder asks things of; requests are carried out in order. */
export type Writer = {
  /** Never rejects. The fault `writer_died` says that the request may or may not have been carried out. */
  readonly ask: <Kind extends keyof WriterReplies>(
    request: WriterRequest & { readonly kind: Kind },
  ) => Promise<WriterReply<Kind>>;
  /** Carries out what was asked, closes the database and ends the thread. */
  readonly close: () => Promise<void>;
};

type AnyReply = WriterReply<keyof WriterReplies>;

const writerEntry = new URL('./writer-worker.ts', import.meta.url);

/** Starts no thread before the first request. `entry` is the thread's program. */
export function startWriterThread(settings: WriterSettings, entry: URL = writerEntry): Writer {
  let thread: Thread | null = null;
  let isClosed = false;
  const ask = (request: WriterRequest): Promise<AnyReply> => {
    if (isClosed) return Promise.resolve(fail(faultOfKind('writer_died', settings.file, 'closed')));
    if (thread === null || thread.isDead()) thread = new Thread(settings, entry);
    return thread.ask(request);
  };
  return {
    /** The thread answers each request with a reply of its kind. */
    ask: ask as Writer['ask'],
    close: async () => {
      isClosed = true;
      await thread?.end();
    },
  };
}

class Thread {
  readonly #worker: Worker;
  readonly #file: string;
  readonly #waiting = new Map<number, (reply: AnyReply) => void>();
  readonly #ended: Promise<void>;
  #number = 0;
  #isDead = false;

  constructor(settings: WriterSettings, entry: URL) {
    this.#file = settings.file;
    this.#worker = new Worker(entry, {
      workerData: settings,
      name: 'served-by-writer',
    });
    this.#worker.on('message', ({ number, reply }: FromWriter) => {
      const settle = this.#waiting.get(number);
      this.#waiting.delete(number);
      settle?.(reply);
    });
    this.#worker.on('error', () => this.#die());
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#die();
        resolve();
      });
    });
  }

  isDead(): boolean {
    return this.#isDead;
  }

  ask(request: WriterRequest): Promise<AnyReply> {
    const number = this.#number;
    this.#number += 1;
    return new Promise((resolve) => {
      this.#waiting.set(number, resolve);
      this.#post({ number, request });
    });
  }

  async end(): Promise<void> {
    if (!this.#isDead) this.#post(null);
    await this.#ended;
  }

  #post(message: ToWriter): void {
    this.#worker.postMessage(message);
  }

  #die(): void {
    this.#isDead = true;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const settle of waiting) settle(fail(faultOfKind('writer_died', this.#file, '')));
  }
}
