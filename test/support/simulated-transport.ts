/** Providers of a simulation: every call answered as its script says, and everything about it noted. */
import type { CancelTimer } from '../../src/base/clock.ts';
import { fail, type Result, success } from '../../src/base/result.ts';
import type {
  BodyChunk,
  SendOptions,
  Transport,
  TransportFailure,
  UpstreamRequest,
  UpstreamResponse,
} from '../../src/transport/transport.ts';
import { instructionOpening } from './broken-streams.ts';
import type { BodyStep, CallFacts, CallScript } from './schedule-calls.ts';
import type { SimulatedClock } from './simulated-clock.ts';
import type { CallSeen, Moment } from './simulated-observation.ts';

export class SimulatedTransport implements Transport {
  readonly calls: CallSeen[] = [];
  readonly #clock: SimulatedClock;
  readonly #moment: () => Moment;
  readonly #script: (call: CallFacts) => CallScript;
  readonly #onCall: (call: CallSeen) => void;
  readonly #counts = new Map<string, number>();
  /** Exchanges that have not ended. */
  open = 0;

  constructor(world: {
    readonly clock: SimulatedClock;
    readonly moment: () => Moment;
    readonly script: (call: CallFacts) => CallScript;
    readonly onCall: (call: CallSeen) => void;
  }) {
    this.#clock = world.clock;
    this.#moment = world.moment;
    this.#script = world.script;
    this.#onCall = world.onCall;
  }

  readonly close = async (): Promise<void> => undefined;

  readonly send = (
    request: UpstreamRequest,
    options: SendOptions,
  ): Promise<Result<UpstreamResponse, TransportFailure>> => {
    // Nothing reaches the provider of what was called off before.
    if (options.signal.aborted) return Promise.resolve(fail(brokenBy('aborted', 'ABORTED')));
    const facts = this.#factsOf(request);
    const script = this.#script(facts);
    const call: CallSeen = { ...facts, ...script, at: this.#moment(), ended: null };
    this.calls.push(call);
    this.open += 1;
    this.#onCall(call);
    return this.#answer(call, options);
  };

  #factsOf(request: UpstreamRequest): CallFacts {
    const { hostname, pathname } = new URL(request.url);
    const model = pathname.slice(1);
    const requestId = request.headers['x-client-request-id'] ?? '';
    const name = `${requestId} ${hostname}/${model}`;
    const nth = this.#counts.get(name) ?? 0;
    this.#counts.set(name, nth + 1);
    return {
      provider: hostname,
      model,
      key: request.headers['authorization'] ?? null,
      requestId,
      nth,
      isStream: request.headers['accept'] === 'text/event-stream',
      atMs: this.#clock.monotonicMs(),
      ...partialIn(request),
    };
  }

  #answer(
    call: CallSeen,
    { signal, connectTimeoutMs }: SendOptions,
  ): Promise<Result<UpstreamResponse, TransportFailure>> {
    return new Promise((resolve) => {
      let cancelTimer: CancelTimer = () => undefined;
      const finish = (result: Result<UpstreamResponse, TransportFailure>): void => {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const fails = (failure: TransportFailure, how: 'failed' | 'closed'): void => {
        this.#end(call, how);
        finish(fail(failure));
      };
      const onAbort = (): void => fails(brokenBy('aborted', 'ABORTED'), 'closed');
      signal.addEventListener('abort', onAbort);
      const { head } = call;
      switch (head.kind) {
        case 'silent':
          return;
        case 'answer':
          cancelTimer = this.#clock.schedule(head.afterMs, () =>
            finish(success(this.#response(call, head))),
          );
          return;
        default: {
          const { kind } = head;
          const afterMs = kind === 'unreachable' ? connectTimeoutMs : head.afterMs;
          cancelTimer = this.#clock.schedule(afterMs, () => fails(failureOf(kind), 'failed'));
        }
      }
    });
  }

  #response(call: CallSeen, head: Extract<CallSeen['head'], { kind: 'answer' }>): UpstreamResponse {
    const body = new SimulatedBody(call.body, this.#clock, (how) => this.#end(call, how));
    return {
      status: head.status,
      headers: head.headers,
      read: () => body.read(),
      cancel: () => body.cancel(),
    };
  }

  #end(call: CallSeen, how: 'read' | 'failed' | 'closed'): void {
    call.ended = { ...this.#moment(), how };
    this.open -= 1;
  }
}

type SentMessage = {
  readonly role: string;
  readonly content: readonly { readonly text: string }[];
};

/** The answer that the request asks to go on with: it stands last, or the instruction comes after it. */
function partialIn({ body }: UpstreamRequest): Pick<CallFacts, 'partial'> {
  const { messages } = JSON.parse(String(body)) as { readonly messages: readonly SentMessage[] };
  const own = messages.findLast(({ role }) => role === 'assistant');
  const last = messages.at(-1);
  if (own === undefined || last === undefined) return {};
  const textOf = ({ content }: SentMessage): string => content.map(({ text }) => text).join('');
  const isPrefill = last === own;
  const anchor = isPrefill ? '' : textOf(last).slice(instructionOpening.length);
  return { partial: { text: textOf(own), isPrefill, anchor, askedText: '' } };
}

function failureOf(kind: 'refused' | 'reset' | 'stale' | 'unreachable'): TransportFailure {
  switch (kind) {
    case 'refused':
      return brokenBy('refused', 'ECONNREFUSED');
    case 'reset':
      return brokenBy('reset', 'ECONNRESET');
    case 'stale':
      return { ...brokenBy('reset', 'ECONNRESET'), isStaleSocket: true };
    case 'unreachable':
      return { ...brokenBy('refused', 'CONNECT_TIMEOUT'), isConnectTimeout: true };
  }
}

function brokenBy(kind: TransportFailure['kind'], code: string): TransportFailure {
  return { kind, isConnectTimeout: false, isStaleSocket: false, code };
}

class SimulatedBody {
  readonly #steps: BodyStep[];
  readonly #clock: SimulatedClock;
  readonly #onEnd: (how: 'read' | 'failed' | 'closed') => void;
  #cancelRead: (() => void) | null = null;
  #last: BodyChunk | null = null;

  constructor(
    steps: readonly BodyStep[],
    clock: SimulatedClock,
    onEnd: (how: 'read' | 'failed' | 'closed') => void,
  ) {
    this.#steps = [...steps];
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  read(): Promise<BodyChunk> {
    if (this.#cancelRead !== null) throw new Error('a body is read twice at a time');
    if (this.#last !== null) return Promise.resolve(this.#last);
    const step = this.#steps.shift();
    if (typeof step === 'string') {
      return Promise.resolve({ kind: 'bytes', bytes: Buffer.from(step) });
    }
    if (typeof step === 'object') {
      if (step.end === 'clean') return Promise.resolve(this.#finish({ kind: 'end' }, 'read'));
      const failure = brokenBy('reset', 'ECONNRESET');
      return Promise.resolve(this.#finish({ kind: 'failed', failure }, 'failed'));
    }
    return this.#wait(step);
  }

  /** Idempotent; a read under way fails. */
  cancel(): void {
    if (this.#last !== null) return;
    this.#finish({ kind: 'failed', failure: brokenBy('aborted', 'ABORTED') }, 'closed');
    this.#cancelRead?.();
  }

  /** `forMs` undefined = nothing comes any more. */
  #wait(forMs: number | undefined): Promise<BodyChunk> {
    return new Promise((resolve) => {
      let cancelTimer: CancelTimer = () => undefined;
      const go = (): void => {
        this.#cancelRead = null;
        cancelTimer();
        resolve(this.read());
      };
      this.#cancelRead = go;
      if (forMs !== undefined) cancelTimer = this.#clock.schedule(forMs, go);
    });
  }

  #finish(last: BodyChunk, how: 'read' | 'failed' | 'closed'): BodyChunk {
    this.#last = last;
    this.#onEnd(how);
    return last;
  }
}
