/** Providers that tell one story in their vendors' wire, broken at bytes that a plan draws: no sockets, virtual time. */
import { isJsonObject, parseJson, stringAt } from '../../../src/base/json.ts';
import type { Random } from '../../../src/base/random.ts';
import { fail, type Result, success } from '../../../src/base/result.ts';
import { goOn, type Manner } from '../../../src/simulator/go-on.ts';
import type { Answer, Prompt, ToolCall } from '../../../src/simulator/prompt.ts';
import { estimateTokens } from '../../../src/simulator/token-estimate.ts';
import type { Vendor } from '../../../src/simulator/vendors/vendor.ts';
import type {
  BodyChunk,
  SendOptions,
  Transport,
  TransportFailure,
  UpstreamRequest,
  UpstreamResponse,
} from '../../../src/transport/transport.ts';
import { shownManner } from '../rude-manner.ts';
import { pick } from './cut-texts.ts';

/** `cut`: the connection breaks. `end`: it closes as if all were said. `garble`: from there on nothing can be read. */
export const breakages = ['cut', 'end', 'stall', 'garble'] as const;
export type Break = {
  readonly how: (typeof breakages)[number];
  /** After this share of the answer's bytes. */
  readonly share: number;
};

export type Telling = {
  readonly story: string;
  /** What the story ends with. */
  readonly calls: readonly ToolCall[];
  readonly manner: Manner;
  readonly takesPrefill: boolean;
  /** The story repeats itself: what was sent may not be its beginning any more. */
  readonly isRepetitive: boolean;
  /** Of the answers in the order in which they are given; the others are whole. */
  readonly breaks: readonly Break[];
};

export class CutProviders implements Transport {
  /** Exchanges that have not ended. */
  open = 0;
  answers = 0;
  #streamType = '';
  readonly #random: Random;
  readonly #telling: Telling;
  readonly #vendors: { readonly [provider: string]: Vendor };

  constructor(plan: {
    readonly random: Random;
    readonly telling: Telling;
    readonly vendors: { readonly [provider: string]: Vendor };
  }) {
    this.#random = plan.random;
    this.#telling = plan.telling;
    this.#vendors = plan.vendors;
  }

  readonly close = async (): Promise<void> => undefined;

  readonly send = (
    request: UpstreamRequest,
    { signal }: SendOptions,
  ): Promise<Result<UpstreamResponse, TransportFailure>> => {
    if (signal.aborted) return Promise.resolve(fail(broken('aborted')));
    const url = new URL(request.url);
    const vendor = this.#vendors[url.hostname];
    if (vendor === undefined) throw new Error(`no ${url.hostname}`);
    const { pathname: path, searchParams: query } = url;
    const route = vendor.route({ method: 'POST', path, query, headers: request.headers });
    if (route?.operation !== 'generate') throw new Error(`no ${path}`);
    const parsed = parseJson(String(request.body));
    const body = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
    const prompt = vendor.read(body, route);
    const model = route.model ?? stringAt(body, 'model') ?? '';
    return Promise.resolve(success(this.#answer(vendor, prompt, model)));
  };

  #answer(vendor: Vendor, prompt: Prompt, model: string): UpstreamResponse {
    const { partial } = prompt;
    const { story, takesPrefill } = this.#telling;
    if (partial?.isPrefill === true && !takesPrefill) {
      const fault = vendor.fault('prefill', { model, retryAfterMs: 0 });
      return this.#response(fault.status, [Buffer.from(vendor.errorBody(fault, 'req'))], 'end');
    }
    const { manner } = this.#telling;
    const known =
      partial === null ? story : goOn(story, partial, shownManner(story, partial, manner));
    const text = known ?? (this.#telling.isRepetitive ? 'And so on.' : null);
    if (text === null) throw new Error(`no part of the story: ${JSON.stringify(partial?.text)}`);
    const identity = {
      id: vendor.messageId(String(this.answers).padStart(24, '0')),
      requestId: 'req',
      model,
      createdAtSeconds: 1,
      eol: vendor.eol,
    };
    const frames = vendor.frames(this.#said(text, prompt), prompt, { identity, isArray: false });
    const bytes = Buffer.from(
      frames.map(({ frame }) => frame).join(''),
      vendor.binaryStreams === undefined ? 'utf8' : 'latin1',
    );
    this.#streamType = vendor.binaryStreams?.contentType ?? 'text/event-stream';
    const planned = this.#telling.breaks[this.answers];
    this.answers += 1;
    return this.#broken(bytes, planned);
  }

  #said(text: string, prompt: Prompt): Answer {
    const { calls } = this.#telling;
    return {
      thinking: '',
      text,
      calls,
      end: calls.length === 0 ? 'complete' : 'tools',
      rawFinish: null,
      stopSequence: null,
      usage: { input: prompt.inputTokens, cached: 0, output: estimateTokens(text), thinking: 0 },
    };
  }

  #broken(bytes: Buffer, planned: Break | undefined): UpstreamResponse {
    if (planned === undefined) return this.#response(200, this.#chunks(bytes), 'end');
    const at = Math.floor(planned.share * bytes.length);
    if (planned.how !== 'garble') {
      return this.#response(200, this.#chunks(bytes.subarray(0, at)), planned.how);
    }
    const garbled = Buffer.from(bytes);
    for (let place = at; place < garbled.length; place += 1) {
      garbled[place] = (garbled[place] ?? 0) ^ (1 + pick(this.#random, 255));
    }
    return this.#response(200, this.#chunks(garbled), 'end');
  }

  /** At random places, which may lie inside a character. */
  #chunks(bytes: Buffer): Buffer[] {
    const chunks: Buffer[] = [];
    const most = [8, 64, 512, 4096][pick(this.#random, 4)] ?? 64;
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + pick(this.#random, most);
      chunks.push(bytes.subarray(at, end));
      at = end;
    }
    return chunks;
  }

  #response(
    status: number,
    chunks: readonly Buffer[],
    end: 'cut' | 'end' | 'stall',
  ): UpstreamResponse {
    this.open += 1;
    const headers = { 'content-type': status === 200 ? this.#streamType : 'application/json' };
    const left = [...chunks];
    let last: BodyChunk | null = null;
    let stop = (): void => undefined;
    const finish = (chunk: BodyChunk): BodyChunk => {
      if (last === null) this.open -= 1;
      last ??= chunk;
      return last;
    };
    return {
      status,
      headers,
      read: () => {
        const bytes = left.shift();
        if (last !== null) return Promise.resolve(last);
        if (bytes !== undefined) return Promise.resolve({ kind: 'bytes', bytes });
        if (end === 'end') return Promise.resolve(finish({ kind: 'end' }));
        if (end === 'cut') {
          return Promise.resolve(finish({ kind: 'failed', failure: broken('reset') }));
        }
        return new Promise((resolve) => {
          stop = () => resolve(finish({ kind: 'failed', failure: broken('aborted') }));
        });
      },
      cancel: () => {
        finish({ kind: 'failed', failure: broken('aborted') });
        stop();
      },
    };
  }
}

function broken(kind: TransportFailure['kind']): TransportFailure {
  return { kind, isConnectTimeout: false, isStaleSocket: false, code: kind.toUpperCase() };
}
