/** What an answer names by ids, noted with the account that made it: later requests bring the ids back. */
import type { AccountState } from '../chat/request.ts';
import type { MadeItem } from '../chat/stream-event.ts';
import type { AnswerBatch } from '../engine/engine-request.ts';
import type { Origins } from '../engine/origins.ts';
import type { RequestTrace } from '../engine/trace.ts';

/** More than any answer holds; what comes behind is not known later. */
const itemsMax = 512;

export class MadeItems {
  readonly #origins: Origins;
  readonly #state: AccountState | undefined;
  /** By their ids: an event's and the last one's list tell of the same. */
  readonly #items = new Map<string, MadeItem>();

  constructor(origins: Origins, state: AccountState | undefined) {
    this.#origins = origins;
    this.#state = state;
  }

  watch({ parts, joint }: Pick<AnswerBatch, 'parts' | 'joint'>): void {
    if (this.#state === undefined) return;
    // Of an answer that several have written none has the whole.
    if (joint !== undefined) this.#items.clear();
    for (const item of parts.flatMap(({ made }) => made ?? [])) {
      if (this.#items.size < itemsMax) this.#items.set(item.id, item);
    }
  }

  /** Resolves when what the client may name in its next request can be found. */
  async note({ serving, outcome }: RequestTrace): Promise<void> {
    if (serving === null || outcome !== 'served' || this.#state === undefined) return;
    const { isKept, conversationId } = this.#state;
    const items = [...this.#items.values()].filter(({ isReasoning }) => isKept || isReasoning);
    const { target, provider, keyAlias } = serving;
    const origin = { target, provider, keyAlias };
    const ids = items.map(({ id }) => id);
    const noted = ids.length === 0 ? null : this.#origins.note(ids, { ...origin, isKept });
    if (conversationId !== null)
      await this.#origins.note([conversationId], { ...origin, isKept: true });
    if (isKept) await noted;
  }
}
