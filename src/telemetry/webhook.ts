/** Sends alerts to the operator's webhook, one after the other; a receiver that is slow or gone delays nobody else. */
import { type CancelTimer, type Clock, sleep } from '../base/clock.ts';
import type { Log } from '../base/log-port.ts';
import type { AlertNotice } from '../engine/alert-board.ts';
import type { Transport, UpstreamResponse } from '../transport/transport.ts';
import { alertMessage } from './alert-message.ts';

/** A secret by its name; `resolve` gives null when the reference leads nowhere. */
export type WebhookSecret = { readonly alias: string; readonly resolve: () => string | null };

export type WebhookPorts = {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  /** `alerts.webhook` of the config in force; null = there is none. */
  readonly secret: () => WebhookSecret | null;
  /** The reference is set and leads nowhere. */
  readonly onUnresolved: (alias: string) => void;
};

const waitingMax = 200;
const attemptMs = 5_000;
const answerBytesMax = 64 * 1024;
/** Before the second and the third try. */
const retryDelaysMs: readonly number[] = [1_000, 5_000];
/** At the end of the process: how long what waits may take. */
const closeMs = 1_000;

type Sent = 'taken' | 'refused' | 'failed';

export class Webhook {
  readonly #ports: WebhookPorts;
  readonly #waiting: AlertNotice[] = [];
  readonly #abort = new AbortController();
  #running: Promise<void> | null = null;
  /** Told once, until a notice is taken again. */
  #isFailing = false;

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
  }

  /** Never throws, never waits. Without a webhook nothing happens; when too many wait, the oldest is dropped. */
  push(notice: AlertNotice): void {
    const secret = this.#ports.secret();
    if (secret === null || this.#abort.signal.aborted) return;
    this.#waiting.push(notice);
    if (this.#waiting.length > waitingMax) {
      this.#waiting.shift();
      this.#tellFailure('more alerts wait than may');
    }
    this.#running ??= this.#run();
  }

  /** What waits is tried once more, within a second; then everything is dropped. */
  async close(): Promise<void> {
    if (this.#running === null) return;
    let cancel: CancelTimer = () => undefined;
    const limit = new Promise<void>((resolve) => {
      cancel = this.#ports.clock.schedule(closeMs, resolve);
    });
    await Promise.race([this.#running, limit]);
    cancel();
    this.#waiting.length = 0;
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    // The caller goes on first: nothing of this happens inside its call.
    await Promise.resolve();
    for (let notice = this.#waiting.shift(); notice; notice = this.#waiting.shift()) {
      await this.#deliver(notice);
    }
    this.#running = null;
  }

  async #deliver(notice: AlertNotice): Promise<void> {
    const body = alertMessage(notice);
    for (const delayMs of [0, ...retryDelaysMs]) {
      if (delayMs > 0) await sleep(this.#ports.clock, delayMs, this.#abort.signal);
      if (this.#abort.signal.aborted) return;
      const url = this.#url(notice);
      if (url === null) return;
      const sent = await this.#post(url, body);
      if (sent === 'taken') return this.#tellRecovery();
      if (sent === 'refused') return;
    }
  }

  #url(notice: AlertNotice): string | null {
    const secret = this.#ports.secret();
    if (secret === null) return null;
    const url = secret.resolve();
    if (url === null) {
      const isAboutIt = notice.kind === 'secret_unresolved' && notice.subject === secret.alias;
      if (!isAboutIt) this.#ports.onUnresolved(secret.alias);
      return null;
    }
    const address = webAddress(url);
    if (address === null) {
      this.#tellFailure(
        `the secret ${secret.alias} is no http or https address without a password`,
      );
    }
    return address;
  }

  async #post(url: string, body: string): Promise<Sent> {
    const attempt = new AbortController();
    const onClose = (): void => attempt.abort();
    this.#abort.signal.addEventListener('abort', onClose, { once: true });
    const cancel = this.#ports.clock.schedule(attemptMs, () => attempt.abort());
    const result = await this.#ports.transport.send(
      { url, headers: { 'content-type': 'application/json' }, body },
      { signal: attempt.signal, connectTimeoutMs: attemptMs },
    );
    if (result.ok) await discard(result.value);
    cancel();
    this.#abort.signal.removeEventListener('abort', onClose);
    if (!result.ok) {
      const isCut = result.fault.kind === 'aborted';
      this.#tellFailure(isCut ? 'no answer within 5 s' : `no connection (${result.fault.code})`);
      return 'failed';
    }
    const { status } = result.value;
    if (status >= 200 && status < 300) return 'taken';
    this.#tellFailure(`it answered HTTP ${status}`);
    return status === 408 || status === 429 || status >= 500 ? 'failed' : 'refused';
  }

  #tellFailure(reason: string): void {
    if (this.#isFailing || this.#abort.signal.aborted) return;
    this.#isFailing = true;
    this.#ports.log.warn('alerts do not reach the webhook', { reason });
  }

  #tellRecovery(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#ports.log.info('alerts reach the webhook again');
  }
}

/** As the transport wants it: with a path, without a fragment. */
function webAddress(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, origin, pathname, search, username, password } = new URL(text);
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return null;
  return `${origin}${pathname}${search}`;
}

/** Read to its end where it is short, so that the receiver sees a whole exchange. */
async function discard(response: UpstreamResponse): Promise<void> {
  let bytes = 0;
  for (;;) {
    const chunk = await response.read();
    if (chunk.kind !== 'bytes') return;
    bytes += chunk.bytes.length;
    if (bytes > answerBytesMax) return response.cancel();
  }
}
