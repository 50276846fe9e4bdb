/** The control endpoints under `/_sim`: break, mend, script, and look at what came in. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { faultKinds, parseFaultOrder } from '../faults/fault.ts';
import type { ActiveFault, FaultBoard } from '../faults/fault-board.ts';
import { readBody } from '../read-body.ts';
import { type ParsedCall, parseScript } from '../script/scripted-call.ts';
import { maskHeaders, maskPath } from './mask-headers.ts';
import type { RequestRecord, RequestRing } from './request-ring.ts';

export type ProviderStatus = {
  readonly vendor: string;
  readonly url: string;
  readonly requests: number;
  readonly calls: number;
  readonly open_requests: number;
  readonly open_sockets: number;
  readonly is_scripted: boolean;
};

export type ControlPorts = {
  readonly host: string;
  readonly board: FaultBoard;
  readonly ring: RequestRing;
  readonly providerNames: readonly string[];
  readonly status: () => { readonly [provider: string]: ProviderStatus };
  /** Null = the provider answers by itself again. */
  readonly setScript: (provider: string, calls: readonly ParsedCall[] | null) => void;
};

type Reply = { readonly status: number; readonly body: unknown };

const bodyBytesMax = 4 * 1_048_576;
const listedDefault = 100;

export function isControlPath(url: string): boolean {
  return url === '/_sim' || url.startsWith('/_sim/') || url.startsWith('/_sim?');
}

/** Answers one control request; never rejects. */
export async function handleControl(
  request: IncomingMessage,
  response: ServerResponse,
  ports: ControlPorts,
): Promise<void> {
  response.on('error', () => undefined);
  const refusal = browserRefusal(request, ports.host);
  const body = refusal === null ? await readBody(request, bodyBytesMax) : Buffer.alloc(0);
  if (body === 'gone') return;
  const reply = refusal ?? route(request, body, ports);
  if (body === 'too_large') response.shouldKeepAlive = false;
  const text = `${JSON.stringify(reply.body, null, 2)}\n`;
  response.writeHead(reply.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}

/** A web page must not steer or read the simulator: not by a request of its own, not by rebinding a name. */
function browserRefusal(request: IncomingMessage, host: string): Reply | null {
  const { origin, host: hostHeader = '' } = request.headers;
  const name = hostHeader.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  const isOwnName = isIP(name) > 0 || !name.includes('.') || name === host;
  if (origin === undefined && isOwnName) return null;
  return complaint(403, 'not for web pages: call it by its address and without an Origin header');
}

function complaint(status: number, message: string): Reply {
  return { status, body: { error: message } };
}

function route(request: IncomingMessage, body: Buffer | 'too_large', ports: ControlPorts): Reply {
  if (body === 'too_large') return complaint(413, `body: at most ${bodyBytesMax} bytes`);
  const url = request.url ?? '/';
  const question = url.indexOf('?');
  const path = question < 0 ? url : url.slice(0, question);
  const query = new URLSearchParams(question < 0 ? '' : url.slice(question + 1));
  const routes = routeTable(ports, query, body);
  const methods = routes[path.replace(/\/$/, '')];
  if (methods === undefined)
    return complaint(404, `unknown path; known: ${Object.keys(routes).join(', ')}`);
  const run = methods[request.method ?? 'GET'];
  if (run === undefined) return complaint(405, `allowed here: ${Object.keys(methods).join(', ')}`);
  return run();
}

type RouteTable = { readonly [path: string]: { readonly [method: string]: () => Reply } };

function routeTable(ports: ControlPorts, query: URLSearchParams, body: Buffer): RouteTable {
  const { board, ring } = ports;
  const forProvider = (act: (provider: string | null) => Reply) => (): Reply => {
    const provider = query.get('provider');
    if (provider === null || ports.providerNames.includes(provider)) return act(provider);
    return complaint(400, `provider: expected one of ${ports.providerNames.join(', ')}`);
  };
  return {
    '/_sim': { GET: () => ({ status: 200, body: help(ports) }) },
    '/_sim/status': { GET: () => ({ status: 200, body: { providers: ports.status() } }) },
    '/_sim/faults': {
      GET: forProvider((provider) => ({
        status: 200,
        body: { faults: board.list(provider).map(shownFault) },
      })),
      POST: () => postFault(ports, body),
      DELETE: forProvider((provider) => ({
        status: 200,
        body: { cleared: board.clear(provider) },
      })),
    },
    '/_sim/requests': {
      GET: forProvider((provider) => listRequests(ring, provider, query.get('limit'))),
      DELETE: () => {
        ring.clear();
        return { status: 200, body: { cleared: true } };
      },
    },
    '/_sim/scripts': {
      POST: () => postScript(ports, body),
      DELETE: forProvider((provider) => {
        const names = provider === null ? ports.providerNames : [provider];
        for (const name of names) ports.setScript(name, null);
        return { status: 200, body: { cleared: names } };
      }),
    },
  };
}

function help({ providerNames }: ControlPorts) {
  return {
    providers: providerNames,
    faults: faultKinds,
    endpoints: {
      'POST /_sim/faults':
        '{"provider":NAME or "all","fault":KIND,"for":"60s","share":0..1,"model":NAME,"count":N,"after_tokens":N,"delay":"20s","retry_after":"2s","period":"5s"}',
      'GET /_sim/faults?provider=': 'the faults in force',
      'DELETE /_sim/faults?provider=': 'mends all, or one provider',
      'GET /_sim/requests?provider=&limit=': 'what came in, newest last, credentials masked',
      'DELETE /_sim/requests': 'forgets them',
      'POST /_sim/scripts':
        '{"provider":NAME,"calls":[{"status":200,"sse":["ROLE","T:hello","FIN:stop","DONE"]}]}',
      'DELETE /_sim/scripts?provider=': 'back to own answers',
      'GET /_sim/status': 'counters',
    },
  };
}

function postFault({ board, providerNames }: ControlPorts, body: Buffer): Reply {
  const parsed = parseJson(body.toString('utf8'));
  if (!parsed.ok) return complaint(400, `body: ${parsed.fault}`);
  const order = parseFaultOrder(parsed.value, providerNames);
  if (!order.ok) return complaint(400, order.fault);
  const added = order.value.providers.map((name) => board.add(name, order.value.fault));
  const faults = added.filter((one) => one !== null);
  if (faults.length < added.length)
    return complaint(409, 'too many faults in force; DELETE /_sim/faults first');
  return { status: 201, body: { faults: faults.map(shownFault) } };
}

function shownFault({ id, provider, fault, remainingMs, struck }: ActiveFault) {
  return {
    id,
    provider,
    fault: fault.kind,
    remaining_ms: remainingMs === null ? null : Math.round(remainingMs),
    share: fault.share,
    model: fault.model,
    count: fault.count,
    struck,
  };
}

function listRequests(ring: RequestRing, provider: string | null, limit: string | null): Reply {
  const wanted = limit === null ? listedDefault : Number(limit);
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > 1_000) {
    return complaint(400, 'limit: expected a whole number from 1 to 1000');
  }
  return { status: 200, body: { requests: ring.list(provider, wanted).map(shownRequest) } };
}

function shownRequest(record: RequestRecord) {
  const text = record.body.toString('utf8');
  const isWhole = record.body.length === record.bodyBytes;
  const parsed = isWhole ? parseJson(text) : null;
  return {
    id: record.id,
    provider: record.provider,
    method: record.method,
    path: maskPath(record.path),
    headers: maskHeaders(record.headers),
    at: new Date(record.at).toISOString(),
    body: parsed?.ok === true ? parsed.value : text,
    body_bytes: record.bodyBytes,
    outcome: {
      answered_by: record.answeredBy,
      status: record.status,
      complaint: record.complaint,
      end: record.end,
      took_ms: record.endedMs === null ? null : Math.round(record.endedMs - record.startedMs),
      peer_closed_after_ms:
        record.peerClosedMs === null ? null : Math.round(record.peerClosedMs - record.startedMs),
    },
  };
}

function postScript({ providerNames, setScript }: ControlPorts, body: Buffer): Reply {
  const parsed = parseJson(body.toString('utf8'));
  if (!parsed.ok) return complaint(400, `body: ${parsed.fault}`);
  const order = parsed.value;
  const allowed = providerNames.join(', ');
  if (!isJsonObject(order)) return complaint(400, 'expected a JSON object with provider and calls');
  const provider = providerNames.find((name) => name === order['provider']);
  if (provider === undefined) return complaint(400, `provider: expected one of ${allowed}`);
  const calls = parseScript(order['calls']);
  if (!calls.ok) return complaint(400, calls.fault);
  setScript(provider, calls.value);
  return { status: 201, body: { provider, calls: calls.value.length } };
}
