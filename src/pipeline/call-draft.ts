/** A call as far as it has been read: what an answer to it, a refusal too, is named by. */
import type { Clock } from '../base/clock.ts';
import { uuidv7 } from '../base/ids.ts';
import type { ChatRequest } from '../chat/request.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import type { Call } from './answer.ts';
import { clientRetryCountOf, type RequestOptions } from './request-options.ts';

export class CallDraft {
  readonly call: Call;
  readonly snapshot: Snapshot;
  readonly id: string;
  /** Wall-clock ms. */
  readonly startedAtMs: number;
  /** Filled as they become known. */
  clientRequestId: string;
  tier: string | null;
  requestedModel = '';
  isStream = false;
  includesUsage = false;
  wantsMeta = false;
  chat: ChatRequest | null = null;
  /** Null until they have been read. */
  options: RequestOptions | null = null;
  /** Which repeat of the client's this is, by its SDK's word or by its bytes; 0 = none. */
  clientRetryCount: number;

  constructor(call: Call, snapshot: Snapshot, clock: Clock) {
    this.call = call;
    this.snapshot = snapshot;
    this.startedAtMs = clock.wallMs();
    this.id = uuidv7(this.startedAtMs);
    this.clientRequestId = this.id;
    // By its own name, or not at all: what stands in a path may be no tier, nor fit into a header.
    this.tier =
      call.tierInPath === null ? null : (snapshot.resolveTier(call.tierInPath)?.name ?? null);
    this.clientRetryCount = clientRetryCountOf(call.headers);
  }

  adopt(chat: ChatRequest): void {
    this.chat = chat;
    this.requestedModel = chat.model;
    this.isStream = chat.isStream;
    this.includesUsage = chat.includeUsage;
  }

  adoptOptions(options: RequestOptions): void {
    this.clientRequestId = options.clientRequestId ?? this.clientRequestId;
    this.wantsMeta = options.wantsMeta;
    this.options = options;
  }
}
