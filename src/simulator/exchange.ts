/** One request to a simulated provider, from its head to its end: fault, script, rules, answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject, parseJson, stringAt } from '../base/json.ts';
import { type AnswerScene, answerPlan, refusalPlan, struckPlan } from './answer-plan.ts';
import { maskHeaders, maskPath } from './control/mask-headers.ts';
import type { AnsweredBy, RequestRecord, RequestRing } from './control/request-ring.ts';
import type { FaultBoard } from './faults/fault-board.ts';
import { nextScriptedCall, type ProviderState, stableHex } from './provider-state.ts';
import { type BodyRead, readBody } from './read-body.ts';
import type { ReplyEnd, ReplyPlan } from './reply-plan.ts';
import { type Played, playReply } from './reply-player.ts';
import { scriptPlan } from './script/script-plan.ts';
import type { SimulationSettings } from './settings.ts';
import {
  isTooDeep,
  type RequestHead,
  type Route,
  type Vendor,
  type VendorFault,
  wireOf,
} from './vendors/vendor.ts';

const jsonDepthMax = 200;

export type ExchangePorts = {
  readonly settings: SimulationSettings;
  readonly board: FaultBoard;
  readonly ring: RequestRing;
  readonly isStopping: () => boolean;
  readonly onChange: () => void;
};

/** Answers one request; resolves when its connection is done with it. Never rejects. */
export async function exchange(
  state: ProviderState,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  ports: ExchangePorts,
): Promise<void> {
  const { settings, ring, onChange } = ports;
  const { clock } = settings;
  const closing = new AbortController();
  const closed = new Promise<void>((resolve) => {
    response.once('close', () => {
      closing.abort();
      resolve();
    });
  });
  response.on('error', () => undefined);
  state.requests += 1;
  state.openRequests += 1;
  const record = newRecord(state, request, ports);
  ring.push(record);
  onChange();
  const body = await readBody(request, settings.bodyBytesMax);
  if (Buffer.isBuffer(body)) ring.keepBody(record, body);
  let played: Played = 'gone';
  if (body !== 'gone') {
    const decided = decide(state, { head: headOf(request), record, body }, ports);
    record.answeredBy = decided.by;
    record.status = statusOf(decided.plan);
    onChange();
    if (body === 'too_large') response.shouldKeepAlive = false;
    played = await playReply(decided.plan, { request, response, clock, signal: closing.signal });
    if (body === 'too_large') response.once('finish', () => request.socket.destroy());
  }
  await closed;
  record.endedMs = clock.monotonicMs();
  record.end = endOf(played, response, ports.isStopping());
  if (record.end === 'peer_closed') record.peerClosedMs = record.endedMs;
  state.openRequests -= 1;
  onChange();
}

function newRecord(
  state: ProviderState,
  request: IncomingMessage,
  { settings }: ExchangePorts,
): RequestRecord {
  const headers = Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values]) => [
      name,
      (values ?? []).join(', '),
    ]),
  );
  const path = request.url ?? '/';
  return {
    id: state.requests,
    provider: state.name,
    method: request.method ?? 'GET',
    path: settings.keepsCredentials ? path : maskPath(path),
    headers: settings.keepsCredentials ? headers : maskHeaders(headers),
    at: settings.clock.wallMs(),
    startedMs: settings.clock.monotonicMs(),
    body: Buffer.alloc(0),
    bodyBytes: 0,
    answeredBy: null,
    status: null,
    complaint: null,
    end: null,
    endedMs: null,
    peerClosedMs: null,
  };
}

export function headOf(request: IncomingMessage): RequestHead {
  const url = request.url ?? '/';
  const question = url.indexOf('?');
  return {
    method: request.method ?? 'GET',
    path: question < 0 ? url : url.slice(0, question),
    query: new URLSearchParams(question < 0 ? '' : url.slice(question + 1)),
    headers: request.headers,
  };
}

type Arrived = {
  readonly head: RequestHead;
  readonly record: RequestRecord;
  readonly body: Exclude<BodyRead, 'gone'>;
};

type Decision = { readonly plan: ReplyPlan; readonly by: AnsweredBy };

function decide(
  state: ProviderState,
  { head, record, body }: Arrived,
  ports: ExchangePorts,
): Decision {
  const { settings, board } = ports;
  const vendor = wireOf(state.vendor, head);
  const route = vendor.route(head);
  const parsed = parseJson(Buffer.isBuffer(body) ? body.toString('utf8') : '');
  // Nothing further in may recurse without end.
  const isReadable = parsed.ok && !isTooDeep(parsed.value, jsonDepthMax);
  const document = isReadable ? parsed.value : undefined;
  const object = isJsonObject(document) ? document : {};
  const scene = sceneOf({ state, vendor, route, body: object, number: record.id }, settings);
  const { identity } = scene;
  if (route?.operation === 'generate') state.calls += 1;
  const fault = board.isEmpty ? null : board.strike(state.name, identity.model);
  if (fault !== null)
    return { plan: struckPlan(fault, scene), by: { kind: 'fault', fault: fault.kind } };
  const refused = refusalOf({ vendor, head, route, body, document }, settings);
  record.complaint = refused?.message ?? null;
  const scripted = route?.operation === 'generate' ? nextScriptedCall(state) : null;
  if (scripted !== null && route?.operation === 'generate') {
    const prompt = vendor.read(object, route);
    const { call } = scripted;
    const plan = scriptPlan(call, { vendor, prompt, identity, isArray: route.isArray });
    const by = { kind: 'script', call: scripted.number } as const;
    if (plan !== null) return { plan, by };
    if (refused === null)
      return { plan: delayed(answerPlan(scene, call.headers), call.delayMs), by };
  }
  if (refused !== null)
    return { plan: refusalPlan(vendor, refused, identity), by: { kind: 'refusal' } };
  if (route?.operation === 'models') return listPlan(vendor, route, scene, settings);
  return { plan: answerPlan(scene), by: { kind: 'answer' } };
}

function delayed(plan: ReplyPlan, delayMs: number): ReplyPlan {
  return delayMs === 0 ? plan : { ...plan, delayMs: delayMs + plan.delayMs };
}

function sceneOf(
  input: {
    readonly state: ProviderState;
    readonly vendor: Vendor;
    readonly route: Route | null;
    readonly body: JsonObject;
    /** Of the request among the provider's: what its ids are made from. */
    readonly number: number;
  },
  settings: SimulationSettings,
): AnswerScene {
  const { state, vendor, route, body, number } = input;
  const hex = stableHex(settings.seed, state.name, number);
  let calls = 0;
  const model = route?.model ?? stringAt(body, 'model') ?? '';
  return {
    vendor,
    route: route ?? { operation: 'generate', model: null, isStream: null, isArray: false },
    body,
    pace: settings.pace,
    identity: {
      id: vendor.messageId(hex),
      requestId: `req_${hex}`,
      model,
      createdAtSeconds: Math.floor(settings.clock.wallMs() / 1000),
      eol: vendor.eol,
    },
    nextCallId: () => {
      calls += 1;
      return vendor.callId(stableHex(settings.seed, state.name, number, calls), model);
    },
  };
}

type Judged = {
  readonly vendor: Vendor;
  readonly head: RequestHead;
  readonly route: Route | null;
  readonly body: Buffer | 'too_large';
  readonly document: unknown;
};

/** Why the real service would refuse, in the order in which it looks. */
function refusalOf(
  { vendor, head, route, body, document }: Judged,
  settings: SimulationSettings,
): VendorFault | null {
  if (body === 'too_large') return vendor.plainFault(413, 'Request exceeds the maximum size');
  if (route === null) {
    return vendor.plainFault(404, `Unknown path: ${head.method} ${head.path.slice(0, 200)}`);
  }
  const sent = { body, nowMs: settings.clock.wallMs() };
  const denied = vendor.authorize(head, settings.auth, sent);
  if (denied !== null) return denied;
  if (route.operation === 'models') return null;
  if (document === undefined)
    return vendor.plainFault(400, 'The body of the request is not valid JSON.');
  const fault = settings.isStrict ? vendor.validate(document, route, head) : null;
  if (fault !== null) return fault;
  const model = route.model ?? stringAt(document, 'model') ?? '';
  if (settings.models === 'any' || settings.models.includes(model)) return null;
  return vendor.fault('not_found', { model, retryAfterMs: 0 });
}

function listPlan(
  vendor: Vendor,
  route: Extract<Route, { operation: 'models' }>,
  scene: AnswerScene,
  settings: SimulationSettings,
): Decision {
  const names = settings.models === 'any' ? vendor.modelNames : settings.models;
  const body = vendor.modelsBody(names, route.model);
  if (body === null) {
    const fault = vendor.fault('not_found', { model: route.model ?? '', retryAfterMs: 0 });
    return { plan: refusalPlan(vendor, fault, scene.identity), by: { kind: 'refusal' } };
  }
  const headers = { 'content-type': 'application/json', ...vendor.replyHeaders(scene.identity) };
  return {
    plan: { kind: 'whole', delayMs: 0, status: 200, headers, body },
    by: { kind: 'answer' },
  };
}

function statusOf(plan: ReplyPlan): number | null {
  return plan.kind === 'whole' ? plan.status : (plan.head?.status ?? null);
}

function endOf(played: Played, response: ServerResponse, isStopping: boolean): ReplyEnd {
  if (played === 'cut' || played === 'reset') return played;
  const isRaw = played === 'completed' && !response.headersSent;
  if (response.writableFinished || isRaw) return 'completed';
  return isStopping ? 'stopped' : 'peer_closed';
}
