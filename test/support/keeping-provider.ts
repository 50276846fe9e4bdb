/** A provider that speaks openai-responses and keeps answers, each for the account that asked: by its key. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LoopbackServer, startHttp } from './loopback-server.ts';

type Body = { readonly [field: string]: unknown };

export type KeptRequest = { readonly key: string; readonly body: Body; readonly raw: string };

export class KeepingProvider {
  readonly requests: KeptRequest[] = [];
  /** What a key is answered instead, by its name. */
  readonly refusals = new Map<string, { readonly status: number; readonly headers: object }>();
  /** The bytes that were sent last. */
  sent = '';
  readonly #kept = new Map<string, Set<unknown>>();
  #server: LoopbackServer | null = null;
  #count = 0;

  static async start(): Promise<KeepingProvider> {
    const provider = new KeepingProvider();
    provider.#server = await startHttp((incoming, outgoing) => {
      void provider.#answer(incoming, outgoing);
    });
    return provider;
  }

  get baseUrl(): string {
    return `${this.#server?.origin ?? ''}/v1`;
  }

  close(): Promise<void> {
    return this.#server?.close() ?? Promise.resolve();
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString();
    const body: Body = JSON.parse(raw);
    const key = (incoming.headers.authorization ?? '').replace('Bearer ', '');
    this.requests.push({ key, body, raw });
    const refusal = this.refusals.get(key);
    if (refusal !== undefined) {
      outgoing.writeHead(refusal.status, {
        'content-type': 'application/json',
        ...refusal.headers,
      });
      outgoing.end(JSON.stringify({ error: { message: 'refused', type: 'x', code: null } }));
      return;
    }
    const missing = this.#missing(key, body);
    if (missing !== null) {
      const message = `Item '${missing}' not found.`;
      outgoing.writeHead(400, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }));
      return;
    }
    this.#write(this.#respond(key, body), body, outgoing);
  }

  /** The first id that this account does not keep. */
  #missing(key: string, body: Body): string | null {
    const input = Array.isArray(body['input']) ? body['input'] : [];
    const referred = input.filter((item) => item.type === 'item_reference').map(({ id }) => id);
    const asked = [body['previous_response_id'], ...referred].filter((id) => id != null);
    return asked.find((id) => this.#kept.get(key)?.has(id) !== true) ?? null;
  }

  #respond(key: string, body: Body): Body {
    this.#count += 1;
    const number = `${key}_${this.#count}`;
    const output = [
      { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: `gAAA${number}` },
      {
        type: 'message',
        id: `msg_${number}`,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: `told by ${number}`, annotations: [] }],
      },
    ];
    const kept = this.#kept.get(key) ?? new Set();
    this.#kept.set(key, kept);
    if (body['store'] !== false) {
      for (const id of [`resp_${number}`, ...output.map(({ id }) => id)]) kept.add(id);
    }
    const store = body['store'] !== false;
    return {
      id: `resp_${number}`,
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'kept-model',
      store,
      unheard_of: 1.5,
      output,
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    };
  }

  /** To an odd request it says what no SDK knows. */
  #write(response: Body, asked: Body, outgoing: ServerResponse): void {
    const isStream = asked['stream'] === true;
    const isOdd = asked['my_field'] !== undefined;
    if (!isStream) {
      this.sent = JSON.stringify(response, null, 1);
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(this.sent);
      return;
    }
    const begun = { ...response, status: 'in_progress', output: [], usage: null };
    const [thought, message = {}] = response['output'] as readonly Body[];
    const [part = {}] = message['content'] as readonly Body[];
    const at = { item_id: message['id'], output_index: 1, content_index: 0 };
    const events = [
      { type: 'response.created', response: begun },
      ...(isOdd ? [{ type: 'response.odd_news', odd: [1.5, '\u2028'] }] : []),
      { type: 'response.output_item.added', output_index: 0, item: thought },
      { type: 'response.output_item.done', output_index: 0, item: thought },
      { type: 'response.output_item.added', output_index: 1, item: { ...message, content: [] } },
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...at, delta: part['text'] },
      { type: 'response.output_text.done', ...at, text: part['text'] },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 1, item: message },
      { type: 'response.completed', response },
    ];
    this.sent = events
      .map((event, sequence_number) => {
        const data = JSON.stringify({ ...event, sequence_number });
        return `event: ${event.type}\ndata: ${data}\n\n`;
      })
      .join('');
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.end(this.sent);
  }
}
