/** What one vendor's wire is to the rest of the simulator: routes, rules, and how an answer is written. */
import type { JsonObject } from '../../base/json.ts';
import type { Answer, Prompt, Usage } from '../prompt.ts';
import type { Headers } from '../reply-plan.ts';

export const vendorNames = ['openai', 'anthropic', 'gemini', 'bedrock'] as const;
export type VendorName = (typeof vendorNames)[number];

/** A refusal in the vendor's own terms, before it is written as a body. */
export type VendorFault = {
  readonly status: number;
  readonly message: string;
  /** openai and anthropic: `error.type`; gemini: `error.status`. */
  readonly type: string;
  /** openai only. */
  readonly param: string | null;
  /** openai only. */
  readonly code: string | null;
  /** gemini only: `error.details`. */
  readonly details: readonly JsonObject[];
  readonly headers: Headers;
};

/** Failures that a vendor words by itself and that strike any request. */
export const faultReplyKinds = [
  'overload',
  'rate_limit',
  'quota',
  'auth',
  'permission',
  'not_found',
  'context_length',
  'content_policy',
  'server_error',
] as const;
/** `prefill`: of a conversation that ends with the assistant's turn. */
export type FaultReplyKind = (typeof faultReplyKinds)[number] | 'prefill';

export type FaultDetail = { readonly model: string; readonly retryAfterMs: number };

export type Route =
  | {
      readonly operation: 'generate';
      /** From the path; null where the body names it. */
      readonly model: string | null;
      /** From the path; null where the body says it. */
      readonly isStream: boolean | null;
      /** A stream as one growing JSON array instead of events. */
      readonly isArray: boolean;
    }
  | { readonly operation: 'count'; readonly model: string | null }
  | { readonly operation: 'embed'; readonly model: string | null }
  | { readonly operation: 'models'; readonly model: string | null };

export type RequestHead = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
};

/** `open`: no credential is asked for. `any`: one must be there. A list: it must be one of these. */
export type AuthRule = 'open' | 'any' | readonly string[];

export type ModelRule = 'any' | readonly string[];

/** What stays the same through one reply. */
export type ReplyIdentity = {
  readonly id: string;
  readonly requestId: string;
  readonly model: string;
  readonly createdAtSeconds: number;
  readonly eol: string;
};

export type ToolDelta = {
  readonly index: number | null;
  readonly id: string | null;
  readonly name: string | null;
  /** Text of the arguments; null = left out. */
  readonly arguments: string | null;
};

/** Writes a stream's events one by one; each result is framed text, '' when the vendor has no such event. */
export type StreamWriter = {
  readonly open: () => string;
  readonly text: (text: string) => string;
  readonly think: (text: string) => string;
  readonly tool: (delta: ToolDelta) => string;
  readonly finish: (reason: string, usage: Usage) => string;
  /** Whether `finish` tells the usage too. */
  readonly finishCarriesUsage: boolean;
  readonly usage: (usage: Usage) => string;
  readonly done: () => string;
  readonly ping: () => string;
};

export type StreamSettings = {
  readonly identity: ReplyIdentity;
  readonly usage: Usage;
  readonly includeUsage: boolean;
  readonly isArray: boolean;
  readonly choice: number;
  /** As the prompt's. */
  readonly likelyTokens?: number | null;
  /** The signature of the n-th (from 1) signed part; null = unsigned. */
  readonly signature: (nth: number) => string | null;
};

/** One framed event of an answer. `text` counts towards a fault's "after N tokens". */
export type Frame = { readonly frame: string; readonly content: string };

export type Vendor = {
  readonly name: VendorName;
  readonly label: string;
  /** What follows the origin in the base URL that this vendor's SDK takes. */
  readonly basePath: string;
  readonly eol: string;
  /** Streams that are no text: their frames are written with one character a byte. Absent = events in UTF-8. */
  readonly binaryStreams?: {
    readonly contentType: string;
    /** A frame that no reader may take for a good one. */
    readonly garbled: (frame: string) => string;
  };
  /** What a gateway's entry must say besides its kind and its URL; absent = nothing. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly modelNames: readonly string[];
  readonly route: (head: RequestHead) => Route | null;
  /** Null when the credential passes, which may have to fit the body and the time. */
  readonly authorize: (
    head: RequestHead,
    rule: AuthRule,
    sent: { readonly body: Buffer; readonly nowMs: number },
  ) => VendorFault | null;
  /** Why the real one would refuse `body`, or null. */
  readonly validate: (body: unknown, route: Route, head: RequestHead) => VendorFault | null;
  /** Reads what it can; never fails, so that an unchecked body gets an answer too. */
  readonly read: (body: JsonObject, route: Route) => Prompt;
  readonly fault: (kind: FaultReplyKind, detail: FaultDetail) => VendorFault;
  readonly plainFault: (status: number, message: string) => VendorFault;
  readonly errorBody: (fault: VendorFault, requestId: string) => string;
  /** The event of a stream that fails after it began; `sent`: the frames before it. */
  readonly errorEvent: (
    fault: VendorFault,
    identity: ReplyIdentity,
    sent: readonly Frame[],
  ) => string;
  readonly replyHeaders: (identity: ReplyIdentity) => Headers;
  readonly wholeBody: (answer: Answer, prompt: Prompt, identity: ReplyIdentity) => string;
  readonly frames: (
    answer: Answer,
    prompt: Prompt,
    settings: { readonly identity: ReplyIdentity; readonly isArray: boolean },
  ) => readonly Frame[];
  readonly streamWriter: (settings: StreamSettings) => StreamWriter;
  readonly countBody: (inputTokens: number) => string;
  /** Absent = the vendor has no such endpoint. */
  readonly embedBody?: (body: JsonObject, identity: ReplyIdentity) => string;
  /** The list of models, or the one named `model`; null when unknown. */
  readonly modelsBody: (names: readonly string[], model: string | null) => string | null;
  /** A message id and a tool call id from 24 hex digits that differ per request and call. */
  readonly messageId: (hex: string) => string;
  readonly callId: (hex: string, model: string) => string;
  /** Further endpoints of the same servers that speak another wire; absent = none. */
  readonly wires?: readonly Vendor[];
};

/** The wire that a request to `vendor`'s servers is answered in. */
export function wireOf(vendor: Vendor, head: RequestHead): Vendor {
  return vendor.wires?.find((wire) => wire.route(head) !== null) ?? vendor;
}

export function faultOf(
  fault: Pick<VendorFault, 'status' | 'message' | 'type'> & Partial<VendorFault>,
): VendorFault {
  return { param: null, code: null, details: [], headers: {}, ...fault };
}

/** The first complaint of `checks`, run in order. */
export function firstFault(checks: readonly (() => VendorFault | null)[]): VendorFault | null {
  for (const check of checks) {
    const fault = check();
    if (fault !== null) return fault;
  }
  return null;
}

/** The first complaint about an item. */
export function faultInEach<Item>(
  items: readonly Item[],
  check: (item: Item, index: number) => VendorFault | null,
): VendorFault | null {
  for (const [index, item] of items.entries()) {
    const fault = check(item, index);
    if (fault !== null) return fault;
  }
  return null;
}

/** The value of a header that came once, or the first of several. */
export function headerOf(head: RequestHead, name: string): string | null {
  const value = head.headers[name];
  return (typeof value === 'string' ? value : value?.[0]) ?? null;
}

export function bearerOf(head: RequestHead): string | null {
  const match = /^Bearer\s+(\S+)$/i.exec(headerOf(head, 'authorization') ?? '');
  return match?.[1] ?? null;
}

export function isAccepted(secret: string, rule: AuthRule): boolean {
  return rule === 'open' || rule === 'any' || rule.includes(secret);
}

/** Number of decoded bytes of base64 text, or null when it is none. */
export function base64Bytes(text: string): number | null {
  if (text === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor(((text.length - padding) * 3) / 4);
}

/** Whether a schema nests deeper than the real services take; also what bounds our own recursion. */
export function isTooDeep(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depthMax <= 0) return true;
  return Object.values(value).some((inner) => isTooDeep(inner, depthMax - 1));
}
