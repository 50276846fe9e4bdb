/** A writer that answers when and as a test says. */
import type { Result } from '../../../src/base/result.ts';
import { faultOfKind, type StoreFault } from '../../../src/store/sqlite/store-fault.ts';
import type {
  WriterReplies,
  WriterRequest,
} from '../../../src/store/sqlite/writer/writer-protocol.ts';
import type { Writer } from '../../../src/store/sqlite/writer/writer-thread.ts';

type Reply = Result<WriterReplies[keyof WriterReplies], StoreFault>;
type Commit = Extract<WriterRequest, { readonly kind: 'commit' }>;

export class ScriptedWriter {
  readonly asked: WriterRequest[] = [];
  /** Null = healthy; a kind makes every request fail with it; `silent` leaves every request waiting. */
  mood: StoreFault['kind'] | 'silent' | null = null;
  /** Positions of rows that the next commits refuse. */
  refused: readonly number[] = [];
  /** Rows that retention still finds; 50 go with each portion. */
  oldRows = 0;
  isClosed = false;
  readonly #waiting: (() => void)[] = [];

  /** Rows of all commits so far, in order, whether or not they succeeded. */
  get commits(): readonly Commit[] {
    return this.asked.filter((request) => request.kind === 'commit');
  }

  /** Answers what waits, in the mood of now. */
  release(): void {
    for (const answer of this.#waiting.splice(0)) answer();
  }

  readonly writer: Writer = {
    ask: ((request: WriterRequest) => {
      this.asked.push(request);
      if (this.mood !== 'silent') return Promise.resolve(this.#reply(request));
      return new Promise<Reply>((resolve) => {
        this.#waiting.push(() => resolve(this.#reply(request)));
      });
    }) as Writer['ask'],
    close: () => {
      this.isClosed = true;
      return Promise.resolve();
    },
  };

  #reply(request: WriterRequest): Reply {
    if (this.mood !== null && this.mood !== 'silent') {
      return { ok: false, fault: faultOfKind(this.mood, '/data/tiergate.db', '') };
    }
    return { ok: true, value: this.#valueFor(request) };
  }

  #valueFor(request: WriterRequest): WriterReplies[keyof WriterReplies] {
    switch (request.kind) {
      case 'check':
        return null;
      case 'commit':
        return this.refused.map((at) => ({ at, message: 'refused' }));
      case 'import':
        return { offset: 0, isDone: true, unreadable: 0 };
      case 'adopt':
        return 0;
      case 'prune':
        return this.#prune();
      case 'index':
        return { isDone: true };
      case 'note_origins':
        return null;
      case 'checkpoint':
        return { pages: 0, writtenBack: 0 };
    }
  }

  #prune(): WriterReplies['prune'] {
    const deleted = Math.min(50, this.oldRows);
    this.oldRows -= deleted;
    return { deleted, isDone: deleted < 50 };
  }
}
