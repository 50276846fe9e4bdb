import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { googleMachineKey, googleProof } from '../../src/providers/google-proof.ts';
import { fetchGoogleToken } from '../../src/providers/google-token.ts';
import type { Transport, UpstreamRequest } from '../../src/transport/transport.ts';
import { createUndiciTransport } from '../../src/transport/undici-transport.ts';
import {
  serviceAccount,
  startTokenService,
  type TokenService,
  userAccount,
} from '../support/google-account.ts';
import { noTransport } from '../support/no-transport.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

let service: TokenService;
let transport: Transport;

beforeAll(async () => {
  transport = createUndiciTransport();
  service = await startTokenService();
});
afterAll(async () => {
  await transport.close();
  await service.close();
});
beforeEach(() => {
  service.grants.length = 0;
});
afterEach(() => {
  service.next = null;
  service.expiresIn = 3600;
});

const tokenUri = () => `${service.origin}/token`;

const fetched = (credentials: string, signal = new AbortController().signal) =>
  fetchGoogleToken({ alias: 'KEY', credentials, transport, signal });

describe('credentials of a file', () => {
  it('of a service account are proved by a signature of its key', async () => {
    const result = await fetched(serviceAccount(tokenUri()));
    expect(result).toMatchObject({ ok: true, value: { token: 'ya29.CANARY-1' } });
    expect(result.ok && Math.round(result.value.lifetimeMs / 60_000)).toBe(60);
    expect(service.grants).toEqual([
      'jwt robot@a-project.iam.gserviceaccount.com https://www.googleapis.com/auth/cloud-platform',
    ]);
  });

  it('of a user are changed for a token', async () => {
    const result = await fetched(userAccount(tokenUri()));
    expect(result).toMatchObject({ ok: true, value: { token: 'ya29.CANARY-1' } });
    expect(service.grants).toEqual(['refresh']);
  });

  it.each([
    ['no JSON', 'it is no JSON document'],
    ['[]', 'it is no JSON document'],
    ['{"type":"robot"}', 'its type is not one that is known here'],
    ['{"type":"service_account"}', 'it has no client_email'],
    ['{"type":"authorized_user","client_id":"c","client_secret":"s"}', 'it has no refresh_token'],
    [
      '{"type":"impersonated_service_account","service_account_impersonation_url":"x","source_credentials":{}}',
      'it is incomplete or broken',
    ],
    [
      '{"type":"service_account","client_email":"a@b","private_key":"CANARY"}',
      'it is incomplete or broken',
    ],
  ])('that are none are refused before anyone is asked: %s', async (credentials, why) => {
    const result = await fetched(credentials);
    expect(result).toMatchObject({
      ok: false,
      fault: { errorClass: 'auth', message: `the credential KEY cannot be used: ${why}` },
    });
    expect(service.grants).toEqual([]);
  });

  it.each([
    [400, '{"error":"invalid_grant","error_description":"Invalid JWT CANARY-echo"}', 'auth'],
    [401, '{"error":"invalid_client"}', 'auth'],
    [403, '<html>CANARY-echo</html>', 'auth'],
    [429, '{}', 'connection'],
    [500, 'CANARY-echo', 'connection'],
    [503, '', 'connection'],
    [200, '{"error":"CANARY-echo"}', 'connection'],
    [200, '{"access_token":"a b","expires_in":3600}', 'connection'],
  ])(
    'a token service that answers %i %s leaves the key at fault: %s',
    async (status, body, errorClass) => {
      service.next = { status, body };
      const result = await fetched(serviceAccount(tokenUri()));
      expect(result).toMatchObject({ ok: false, fault: { errorClass } });
      expect(JSON.stringify(result)).not.toContain('CANARY');
      // Nothing below the engine asks twice.
      expect(service.grants).toHaveLength(1);
    },
  );

  it('a silent token service ends with the signal, an absent one at once', async () => {
    service.next = 'silence';
    const abort = new AbortController();
    const waiting = fetched(serviceAccount(tokenUri()), abort.signal);
    while (service.grants.length === 0) await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    expect(await waiting).toMatchObject({
      ok: false,
      fault: { errorClass: 'connection', connection: 'refused' },
    });
    const absent = await fetched(serviceAccount('http://127.0.0.1:1/token'));
    expect(absent).toMatchObject({ ok: false, fault: { errorClass: 'connection' } });
    expect(service.grants).toHaveLength(1);
  });
});

describe('a key', () => {
  const ask = { url: 'http://x', headers: {}, body: '' };
  const { signal } = new AbortController();

  it('shows one token to all requests, and a changed file is used from then on', async () => {
    let file: string | null = userAccount(tokenUri());
    const proof = googleProof(
      { alias: 'KEY', resolve: () => file },
      { clock: new VirtualClock(), transport },
    );
    const all = await Promise.all(Array.from({ length: 20 }, () => proof.authorize(ask, signal)));
    for (const each of all) {
      expect(each).toEqual({
        ok: true,
        value: {
          authorization: 'Bearer ya29.CANARY-1',
          'x-goog-user-project': 'billed-project',
        },
      });
    }
    expect(service.grants).toEqual(['refresh']);
    file = serviceAccount(tokenUri());
    expect(await proof.authorize(ask, signal)).toEqual({
      ok: true,
      value: { authorization: 'Bearer ya29.CANARY-2' },
    });
    file = null;
    expect(await proof.authorize(ask, signal)).toMatchObject({
      ok: false,
      fault: { rule: 'secret_unresolved' },
    });
  });

  it('a token is replaced ahead of its end by the clock that is given', async () => {
    const clock = new VirtualClock();
    const proof = googleProof(
      { alias: 'KEY', resolve: () => userAccount(tokenUri()) },
      { clock, transport },
    );
    await proof.authorize(ask, signal);
    await clock.advance(56 * 60_000);
    expect(await proof.authorize(ask, signal)).toMatchObject({
      value: { authorization: 'Bearer ya29.CANARY-1' },
    });
    while (service.grants.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await expect
      .poll(() => proof.authorize(ask, signal))
      .toMatchObject({ value: { authorization: 'Bearer ya29.CANARY-2' } });
  });

  it('of the machine asks the machine, and says so where there is none', async () => {
    const seen: UpstreamRequest[] = [];
    const machine: Transport = {
      ...noTransport,
      send: (request, options) => {
        seen.push(request);
        return transport.send({ ...request, url: `${service.origin}/` }, options);
      },
    };
    const key = googleMachineKey({ clock: systemClock, transport: machine });
    service.next = { status: 200, body: '{"access_token":"ya29.machine","expires_in":3000}' };
    expect(await key.authorize?.(ask, signal)).toEqual({
      ok: true,
      value: { authorization: 'Bearer ya29.machine' },
    });
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token',
      headers: { 'metadata-flavor': 'Google' },
    });
    const nowhere = googleMachineKey({ clock: systemClock, transport: noTransport });
    expect(await nowhere.authorize?.(ask, signal)).toMatchObject({
      ok: false,
      fault: { errorClass: 'connection', message: expect.stringContaining('NO_TRANSPORT') },
    });
  });
});
