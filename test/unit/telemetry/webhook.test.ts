import { describe, expect, it } from 'vitest';
import type { LogFields } from '../../../src/base/log-port.ts';
import { silentLog } from '../../../src/base/log-port.ts';
import type { AlertNotice } from '../../../src/engine/alert-board.ts';
import { Webhook } from '../../../src/telemetry/webhook.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { type ScriptedCall, ScriptedTransport } from '../../support/scripted-transport.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const sinceMs = Date.UTC(2026, 0, 1, 12);

function notice(over: Partial<AlertNotice> = {}): AlertNotice {
  return {
    kind: 'auth_rejected',
    subject: 'P1_KEY',
    sinceMs,
    count: 1,
    lastError: 'p1/m: not accepted',
    requestId: 'r1',
    target: 'p1/m',
    isResolved: false,
    ...over,
  };
}

const taken: ScriptedCall = { kind: 'answer', status: 200, body: ['ok', { end: 'clean' }] };

function answer(status: number): ScriptedCall {
  return { kind: 'answer', status, body: ['no', { end: 'clean' }] };
}

type Receiver = {
  readonly url?: string | null;
  readonly calls?: readonly ScriptedCall[];
};

/** A webhook whose receiver answers with `calls`, the last of them from then on. */
function hook({ url = 'https://hooks.test/T0/B0?x=1#y', calls = [taken] }: Receiver = {}) {
  const clock = new VirtualClock();
  const scripted = new ScriptedTransport(clock, (_host, count) => {
    return calls[Math.min(count, calls.length - 1)] ?? taken;
  });
  const posts: { readonly url: string; readonly atMs: number; readonly body: JsonBody }[] = [];
  const transport: Transport = {
    send: (request, options) => {
      const body = JSON.parse(request.body.toString()) as JsonBody;
      posts.push({ url: request.url, atMs: clock.monotonicMs(), body });
      return scripted.send(request, options);
    },
    close: scripted.close,
  };
  const lines: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
  const unresolved: string[] = [];
  const webhook = new Webhook({
    transport,
    clock,
    log: {
      ...silentLog,
      warn: (message, fields) => lines.push({ message, fields }),
      info: (message, fields) => lines.push({ message, fields }),
    },
    secret: () => ({ alias: 'HOOK', resolve: () => url }),
    onUnresolved: (alias) => unresolved.push(alias),
  });
  return { clock, webhook, posts, lines, unresolved, scripted };
}

type JsonBody = { readonly [name: string]: unknown };

describe('a notice', () => {
  it('is posted at once, readable by a chat and by a program', async () => {
    const { clock, webhook, posts } = hook();
    webhook.push(notice({ count: 3 }));
    expect(posts).toEqual([]);
    await clock.advance(0);
    expect(posts).toEqual([
      {
        url: 'https://hooks.test/T0/B0?x=1',
        atMs: 0,
        body: {
          text: 'Tiergate: auth_rejected: P1_KEY (3 times): p1/m: not accepted',
          kind: 'auth_rejected',
          subject: 'P1_KEY',
          since: '2026-01-01T12:00:00.000Z',
          count: 3,
          last_error: 'p1/m: not accepted',
          request_id: 'r1',
        },
      },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('of an end says so', async () => {
    const { clock, webhook, posts } = hook();
    webhook.push(notice({ isResolved: true }));
    await clock.advance(0);
    expect(posts[0]?.body).toMatchObject({
      text: 'Tiergate: auth_rejected is over: P1_KEY',
      resolved: true,
    });
  });

  it("with a provider's words in it mentions nobody and links nowhere", async () => {
    const { clock, webhook, posts } = hook();
    webhook.push(notice({ lastError: '<!channel> <https://evil.test|click> & more' }));
    await clock.advance(0);
    expect(posts[0]?.body['text']).toContain(
      '&lt;!channel&gt; &lt;https://evil.test|click&gt; &amp; more',
    );
  });

  it('follows the one before it, in order', async () => {
    const { clock, webhook, posts } = hook({ calls: [{ ...taken, afterMs: 400 }] });
    webhook.push(notice());
    webhook.push(notice({ isResolved: true }));
    await clock.advance(1000);
    expect(posts.map(({ atMs, body }) => [atMs, body['resolved'] ?? false])).toEqual([
      [0, false],
      [400, true],
    ]);
  });
});

describe('a receiver', () => {
  it('that fails twice is tried a third time', async () => {
    const { clock, webhook, posts, lines } = hook({
      calls: [{ kind: 'refused' }, answer(503), taken],
    });
    webhook.push(notice());
    await clock.advance(10_000);
    expect(posts.map(({ atMs }) => atMs)).toEqual([0, 1000, 6000]);
    expect(lines.map(({ message }) => message)).toEqual([
      'alerts do not reach the webhook',
      'alerts reach the webhook again',
    ]);
    expect(clock.pending).toBe(0);
  });

  it('that stays away is tried three times a notice and told of once', async () => {
    const { clock, webhook, posts, lines } = hook({ calls: [{ kind: 'refused' }] });
    webhook.push(notice());
    webhook.push(notice({ subject: 'P2_KEY' }));
    await clock.advance(60_000);
    expect(posts).toHaveLength(6);
    expect(lines).toEqual([
      {
        message: 'alerts do not reach the webhook',
        fields: { reason: 'no connection (ECONNREFUSED)' },
      },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('that never answers is given up after 5 s', async () => {
    const { clock, webhook, posts, scripted, lines } = hook({
      calls: [{ kind: 'silent' }, taken],
    });
    webhook.push(notice());
    await clock.advance(5999);
    expect(posts).toHaveLength(1);
    await clock.advance(1);
    expect(posts).toHaveLength(2);
    expect(lines[0]?.fields).toEqual({ reason: 'no answer within 5 s' });
    expect(scripted.open).toBe(0);
  });

  it('whose answer never ends is cut off', async () => {
    const { clock, webhook, scripted } = hook({
      calls: [{ kind: 'answer', status: 200, body: ['x'.repeat(70_000)] }],
    });
    webhook.push(notice());
    await clock.advance(0);
    expect(scripted.open).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('that refuses a notice does not get it again', async () => {
    const { clock, webhook, posts } = hook({ calls: [answer(404)] });
    webhook.push(notice());
    await clock.advance(60_000);
    expect(posts).toHaveLength(1);
  });

  it('that is too slow for what comes gets the newest 200', async () => {
    const { clock, webhook, posts, lines } = hook({ calls: [{ ...taken, afterMs: 1 }] });
    for (let index = 0; index < 300; index += 1) webhook.push(notice({ subject: `key ${index}` }));
    await clock.advance(10_000);
    expect(posts).toHaveLength(200);
    expect(posts.at(-1)?.body['subject']).toBe('key 299');
    expect(lines[0]?.fields).toEqual({ reason: 'more alerts wait than may' });
  });
});

describe('an address', () => {
  it('that does not resolve is an alert of its own, and not one about itself', async () => {
    const { clock, webhook, posts, unresolved } = hook({ url: null });
    webhook.push(notice());
    webhook.push(notice({ kind: 'secret_unresolved', subject: 'HOOK' }));
    await clock.advance(60_000);
    expect(posts).toEqual([]);
    expect(unresolved).toEqual(['HOOK']);
  });

  it.each(['not a url', 'ftp://x.test/', 'file:///etc/passwd', 'https://user:pw@x.test/hook'])(
    '%s is asked nothing, and the line does not repeat it',
    async (url) => {
      const { clock, webhook, posts, lines } = hook({ url });
      webhook.push(notice());
      await clock.advance(60_000);
      expect(posts).toEqual([]);
      expect(lines).toHaveLength(1);
      expect(JSON.stringify(lines)).not.toContain(url);
    },
  );

  it('without a path is asked at its root', async () => {
    const { clock, webhook, posts } = hook({ url: 'http://hooks.test:8080?a=b' });
    webhook.push(notice());
    await clock.advance(0);
    expect(posts[0]?.url).toBe('http://hooks.test:8080/?a=b');
  });
});

describe('at the end of the process', () => {
  it('what waits is sent within a second', async () => {
    const { clock, webhook, posts } = hook({ calls: [{ ...taken, afterMs: 300 }] });
    webhook.push(notice());
    webhook.push(notice({ isResolved: true }));
    const closed = webhook.close();
    await clock.advance(600);
    await closed;
    expect(posts).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it('a receiver that hangs holds it no longer than that', async () => {
    const { clock, webhook, posts, scripted } = hook({ calls: [{ kind: 'silent' }] });
    webhook.push(notice());
    webhook.push(notice({ isResolved: true }));
    const closed = webhook.close();
    await clock.advance(1000);
    await closed;
    expect(posts).toHaveLength(1);
    expect([scripted.open, clock.pending]).toEqual([0, 0]);
    webhook.push(notice());
    await clock.advance(10_000);
    expect(posts).toHaveLength(1);
  });

  it('nothing is waited for when nothing waits', async () => {
    await hook().webhook.close();
  });
});
