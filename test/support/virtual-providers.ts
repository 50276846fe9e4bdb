/** Simulated providers without sockets: their scripts, in their vendors' wire, under a virtual clock. */
import type { Clock } from '../../src/base/clock.ts';
import { isJsonObject, parseJson, stringAt } from '../../src/base/json.ts';
import { fail, type Result, success } from '../../src/base/result.ts';
import type { Beat, ReplyPlan } from '../../src/simulator/reply-plan.ts';
import { split } from '../../src/simulator/reply-player.ts';
import { scriptPlan } from '../../src/simulator/script/script-plan.ts';
import { parseScript, type ScriptedCall } from '../../src/simulator/script/scripted-call.ts';
import { anthropicVendor } from '../../src/simulator/vendors/anthropic/anthropic-vendor.ts';
import { geminiVendor } from '../../src/simulator/vendors/gemini/gemini-vendor.ts';
import { openaiVendor } from '../../src/simulator/vendors/openai/openai-vendor.ts';
import type { FaultReplyKind, Vendor } from '../../src/simulator/vendors/vendor.ts';
import type {
  BodyChunk,
  SendOptions,
  Transport,
  TransportFailure,
  UpstreamRequest,
  UpstreamResponse,
} from '../../src/transport/transport.ts';

/** What a provider does with one request. `refused`: no connection; `reset`: it breaks before the head. */
export type VirtualCall = ScriptedCall | 'refused' | 'reset' | 'silent';

/** Asked at each request: which of its own it is (from 0), when it came (ms), and with what body. */
export type Behaviour = (nth: number, atMs: number, body: string) => VirtualCall;

export type SeenCall = {
  readonly provider: string;
  readonly atMs: number;
  readonly body: string;
  /** When the gateway closed it before its end; null = it did not. */
  closedAtMs: number | null;
};

export const vendors = { openai: openaiVendor, anthropic: anthropicVendor, gemini: geminiVendor };
export type VendorName = keyof typeof vendors;

/** Calls in order, the last one again and again. */
export function inOrder(...calls: readonly VirtualCall[]): Behaviour {
  return (nth) => calls[Math.min(nth, calls.length - 1)] ?? 'refused';
}

/** What `vendor` says when it refuses a request so. */
export function refusal(vendor: VendorName, kind: FaultReplyKind): ScriptedCall {
  const fault = vendors[vendor].fault(kind, { model: 'm', retryAfterMs: 0 });
  const body: unknown = JSON.parse(vendors[vendor].errorBody(fault, 'req_1'));
  return { status: fault.status, body };
}

export class VirtualProviders implements Transport {
  readonly calls: SeenCall[] = [];
  /** Exchanges that have not ended. */
  open = 0;
  readonly #clock: Clock;
  readonly #vendors: { readonly [provider: string]: VendorName };
  readonly #behaviours = new Map<string, Behaviour>();

  constructor(clock: Clock, names: { readonly [provider: string]: VendorName }) {
    this.#clock = clock;
    this.#vendors = names;
  }

  readonly close = async (): Promise<void> => undefined;

  behave(provider: string, behaviour: Behaviour): void {
    this.#behaviours.set(provider, behaviour);
  }

  callsOf(provider: string): readonly SeenCall[] {
    return this.calls.filter((call) => call.provider === provider);
  }

  readonly send = (
    request: UpstreamRequest,
    { signal }: SendOptions,
  ): Promise<Result<UpstreamResponse, TransportFailure>> => {
    if (signal.aborted) return Promise.resolve(fail(broken('aborted')));
    const url = new URL(request.url);
    const provider = url.hostname;
    const atMs = this.#clock.monotonicMs();
    const nth = this.callsOf(provider).length;
    const seen: SeenCall = { provider, atMs, body: String(request.body), closedAtMs: null };
    this.calls.push(seen);
    this.open += 1;
    const behaviour = this.#behaviours.get(provider) ?? inOrder('refused');
    const call = behaviour(nth, atMs, seen.body);
    return new Promise((resolve) => {
      const finish = (result: Result<UpstreamResponse, TransportFailure>): void => {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        if (!result.ok) this.open -= 1;
        resolve(result);
      };
      const onAbort = (): void => {
        seen.closedAtMs = this.#clock.monotonicMs();
        finish(fail(broken('aborted')));
      };
      signal.addEventListener('abort', onAbort);
      const plan = typeof call === 'string' ? null : this.#planOf(call, provider, url, request);
      const cancelTimer =
        call === 'silent'
          ? () => undefined
          : this.#clock.schedule(plan?.delayMs ?? 0, () => {
              if (plan === null) finish(fail(broken(call === 'refused' ? 'refused' : 'reset')));
              else finish(success(this.#response(plan, seen)));
            });
    });
  };

  #planOf(
    call: ScriptedCall,
    provider: string,
    url: URL,
    { headers, body }: UpstreamRequest,
  ): ReplyPlan {
    const vendor: Vendor = vendors[this.#vendors[provider] ?? 'openai'];
    const route = vendor.route({
      method: 'POST',
      path: url.pathname,
      query: url.searchParams,
      headers,
    });
    if (route?.operation !== 'generate') throw new Error(`${provider} has no ${url.pathname}`);
    const parsed = parseJson(String(body));
    const asked = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
    const script = parseScript([call]);
    const [first] = script.ok ? script.value : [];
    if (first === undefined) throw new Error(script.ok ? 'no call' : script.fault);
    const plan = scriptPlan(first, {
      vendor,
      prompt: vendor.read(asked, route),
      identity: {
        id: vendor.messageId('0123456789abcdef01234567'),
        requestId: 'req_1',
        model: route.model ?? stringAt(asked, 'model') ?? '',
        createdAtSeconds: Math.floor(this.#clock.wallMs() / 1000),
        eol: vendor.eol,
      },
      isArray: route.isArray,
    });
    if (plan === null) throw new Error('a virtual provider says nothing of its own');
    return plan;
  }

  #response(plan: ReplyPlan, seen: SeenCall): UpstreamResponse {
    const { status, headers } = plan.kind === 'whole' ? plan : headOf(plan);
    const beats: Iterable<Beat> =
      plan.kind === 'whole'
        ? [{ kind: 'bytes', bytes: plan.body }]
        : split(plan.beats, plan.splitBytes);
    const body = new PlayedBody(beats, this.#clock, () => {
      this.open -= 1;
    });
    return {
      status,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, String(value)]),
      ),
      read: () => body.read(),
      cancel: () => {
        if (body.cancel()) seen.closedAtMs = this.#clock.monotonicMs();
      },
    };
  }
}

function headOf(plan: Extract<ReplyPlan, { kind: 'beats' }>) {
  if (plan.head === null) throw new Error('raw sockets are not played without sockets');
  return plan.head;
}

function broken(kind: TransportFailure['kind']): TransportFailure {
  const codes = { refused: 'ECONNREFUSED', reset: 'ECONNRESET', aborted: 'ABORTED' };
  return { kind, isConnectTimeout: false, isStaleSocket: false, code: codes[kind] };
}

/** Beats as a body that is read by pulling. */
class PlayedBody {
  readonly #beats: Iterator<Beat>;
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #stopWaiting: (() => void) | null = null;
  #last: BodyChunk | null = null;

  constructor(beats: Iterable<Beat>, clock: Clock, onEnd: () => void) {
    this.#beats = beats[Symbol.iterator]();
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  read(): Promise<BodyChunk> {
    if (this.#last !== null) return Promise.resolve(this.#last);
    const { value, done } = this.#beats.next();
    if (done === true) return this.#finish({ kind: 'end' });
    const beat = value as Beat;
    switch (beat.kind) {
      case 'bytes':
        return Promise.resolve({ kind: 'bytes', bytes: Buffer.from(beat.bytes) });
      case 'end':
        return this.#finish({ kind: 'end' });
      case 'cut':
      case 'reset':
        return this.#finish({ kind: 'failed', failure: broken('reset') });
      case 'wait':
      case 'hang':
        return this.#wait(beat.kind === 'wait' ? beat.ms : null);
    }
  }

  /** Whether there was anything left to cancel. */
  cancel(): boolean {
    if (this.#last !== null) return false;
    void this.#finish({ kind: 'failed', failure: broken('aborted') });
    this.#stopWaiting?.();
    return true;
  }

  #wait(forMs: number | null): Promise<BodyChunk> {
    return new Promise((resolve) => {
      const cancelTimer =
        forMs === null ? () => undefined : this.#clock.schedule(forMs, () => go());
      const go = (): void => {
        this.#stopWaiting = null;
        cancelTimer();
        resolve(this.read());
      };
      this.#stopWaiting = go;
    });
  }

  #finish(last: BodyChunk): Promise<BodyChunk> {
    this.#last = last;
    this.#onEnd();
    return Promise.resolve(last);
  }
}
