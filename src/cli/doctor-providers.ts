/** The doctor on providers: keys resolve, the service answers on the wire, clocks agree. No token is spent. */
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Clock } from '../base/clock.ts';
import { type SecretResolver, secretAlias } from '../providers/secrets.ts';
import type { ProviderEntry } from './doctor-config.ts';
import { type Finding, ok, warning, wrong } from './doctor-report.ts';

const answerMsMax = 8000;
/** Signed requests and `Retry-After` dates go wrong beyond this. */
const skewMsMax = 60_000;

export async function checkProviders(
  providers: readonly ProviderEntry[],
  resolveSecret: SecretResolver,
  clock: Clock,
): Promise<Finding[]> {
  const keys = providers.flatMap((provider) => checkKeys(provider, resolveSecret));
  const reached = await Promise.all(providers.map((provider) => reach(provider, clock)));
  const skews = reached.map(({ skewMs }) => skewMs).filter((skew) => skew !== null);
  return [...keys, ...reached.map(({ finding }) => finding), ...checkClock(skews)];
}

function checkKeys(provider: ProviderEntry, resolveSecret: SecretResolver): Finding[] {
  const subject = `provider ${provider.name}`;
  if (provider.keys.length === 0) {
    if (!provider.isKeyRequired) return [];
    const advice = `name one under providers.${provider.name}.api_keys, as env:NAME or file:/path`;
    return [wrong(subject, 'has no key', advice)];
  }
  return provider.keys.map((reference) => {
    const alias = secretAlias(reference);
    const secret = resolveSecret(reference);
    const fault = secret === null ? null : provider.keyFault(secret);
    if (fault !== null) return wrong(subject, `key ${alias} cannot be used: ${fault}`, null);
    if (secret !== null) return ok(subject, `key ${alias} is set`);
    const where = reference.startsWith('env:')
      ? `set the variable ${alias}`
      : `put the key into ${alias}`;
    return wrong(subject, `key ${alias} does not resolve`, where);
  });
}

type Reached = { readonly finding: Finding; readonly skewMs: number | null };

/** Any HTTP answer will do: without a key, most say 401 or 404, and that is the service. */
async function reach({ name, baseUrl }: ProviderEntry, clock: Clock): Promise<Reached> {
  const subject = `provider ${name}`;
  const startedMs = clock.monotonicMs();
  const answer = await probe(baseUrl, clock);
  if ('code' in answer) {
    const [message, advice] = unreachable(answer.code);
    return { finding: wrong(subject, `${baseUrl} ${message}`, advice), skewMs: null };
  }
  const tookMs = Math.round(clock.monotonicMs() - startedMs);
  const { host } = new URL(baseUrl);
  const date = Date.parse(answer.date ?? '');
  return {
    finding: ok(subject, `${host} answers (HTTP ${answer.status}, ${tookMs} ms)`),
    skewMs: Number.isNaN(date) ? null : clock.wallMs() - date,
  };
}

type Answered = { readonly status: number; readonly date: string | undefined };

/** One GET without a credential; the body is not read, redirects are not followed. */
function probe(url: string, clock: Clock): Promise<Answered | { readonly code: string }> {
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? requestTls : request;
    const sent = send(url, { agent: false, headers: { accept: '*/*' } }, (response) => {
      cancel();
      resolve({ status: response.statusCode ?? 0, date: response.headers.date });
      sent.destroy();
    });
    const cancel = clock.schedule(answerMsMax, () => {
      resolve({ code: 'ETIMEDOUT' });
      sent.destroy();
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      cancel();
      resolve({ code: error.code ?? 'no connection' });
    });
    sent.end();
  });
}

function unreachable(code: string): readonly [message: string, advice: string] {
  switch (code) {
    case 'ETIMEDOUT':
      return [
        `does not answer within ${answerMsMax / 1000} s`,
        'look at the network: is a proxy needed?',
      ];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return [`has no address (${code})`, 'look at the name in base_url and at DNS'];
    case 'ECONNREFUSED':
      return ['refuses connections', 'is the service running, and on this port?'];
    default:
      return /CERT|TLS|SSL|SELF_SIGNED/i.test(code)
        ? [`has a TLS certificate that is not trusted (${code})`, 'look at NODE_EXTRA_CA_CERTS']
        : [`cannot be reached (${code})`, 'look at base_url and at the network'];
  }
}

/** The median, so that one server with a wrong clock accuses nobody. */
function checkClock(skews: readonly number[]): Finding[] {
  const median = skews.toSorted((a, b) => a - b)[Math.floor(skews.length / 2)];
  if (median === undefined) return [];
  const seconds = Math.round(Math.abs(median) / 1000);
  if (Math.abs(median) <= skewMsMax)
    return [ok('clock', `agrees with the providers (${seconds} s)`)];
  const way = median > 0 ? 'ahead of' : 'behind';
  return [warning('clock', `is ${seconds} s ${way} the providers`, 'synchronise it (NTP)')];
}
