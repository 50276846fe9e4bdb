/** Requests to the services that give tokens: over the gateway's own transport, small, and told apart when they fail. */
import type { Transport, TransportFailure, UpstreamResponse } from '../transport/transport.ts';

const answerBytesMax = 64 * 1024;
const connectMs = 3_000;

export class TokenRequest {
  readonly #transport: Transport;
  readonly #signal: AbortSignal;
  /** Of the last request; null = it was answered. */
  failure: TransportFailure | null = null;
  /** Of the last answer. */
  status: number | null = null;

  constructor(transport: Transport, signal: AbortSignal) {
    this.#transport = transport;
    this.#signal = signal;
  }

  /** Rejects where `fetch` would: the failure is then kept here as well. */
  async send(
    url: string,
    { method, headers, body }: { method: string; headers: Headers; body: string },
  ): Promise<Response> {
    this.failure = null;
    this.status = null;
    const options = { signal: this.#signal, connectTimeoutMs: connectMs };
    const request = { url, headers: Object.fromEntries(headers), body };
    const sent = await this.#transport.send(
      method === 'GET' ? { ...request, method } : request,
      options,
    );
    if (!sent.ok) return this.#fail(sent.fault);
    const bytes = await this.#bodyOf(sent.value);
    this.status = sent.value.status;
    const isEmpty = bytes.length === 0;
    return new Response(isEmpty ? null : bytes, {
      status: sent.value.status,
      headers: { 'content-type': sent.value.headers['content-type'] ?? 'application/json' },
    });
  }

  async #bodyOf(response: UpstreamResponse): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = await response.read();
      if (chunk.kind === 'end') return new Uint8Array(Buffer.concat(chunks));
      if (chunk.kind === 'failed') return this.#fail(chunk.failure);
      chunks.push(chunk.bytes);
      length += chunk.bytes.length;
      if (length <= answerBytesMax && !this.#signal.aborted) continue;
      response.cancel();
      return this.#fail({ ...broken, code: this.#signal.aborted ? 'ABORTED' : 'TOO_LARGE' });
    }
  }

  #fail(failure: TransportFailure): never {
    this.failure = failure;
    throw new Error(failure.code);
  }
}

const broken = { kind: 'reset', isConnectTimeout: false, isStaleSocket: false } as const;
