/** The two ports of a dialect: the client's side and the upstream side. Codecs do no I/O and throw nothing. */
import type { JsonObject } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { OmittedContent } from '../chat/citation.ts';
import type { ChatReply } from '../chat/reply.ts';
import type { ChatParameters, ChatRequest, DialectName } from '../chat/request.ts';
import type { StreamPart } from '../chat/stream-event.ts';
import type { ErrorFacts, ErrorRule, HintTable } from '../failure/error-rule.ts';
import type { RequestFailure } from '../failure/request-failure.ts';

/** Why a client's body was refused: 400, `param` names the field (`messages[3].content`), null for the whole body. */
export type RequestFault = {
  readonly message: string;
  readonly param: string | null;
  /** What the dialect's SDKs act on, beside the words. */
  readonly details?: JsonObject;
};

/** What a decoded client body holds: the request, and our own extension object cut out of it. */
export type DecodedRequest = {
  readonly request: ChatRequest;
  readonly extension: JsonObject | null;
};

/** What the same targets can be asked for beside a chat. */
export type OperationName = 'count_tokens' | 'embeddings';

/**
 * A route that this dialect's SDKs call. `suffix` follows `/v1/` or `/v1/tiers/{tier}/`. `speaks`: how
 * its calls are read and answered, where they are no chat.
 */
export type DialectRoute = { readonly suffix: string; readonly speaks?: ClientDialect };

/**
 * Calls whose path says what stands in the body elsewhere: POST `/{version}/{collection}/{call}`, for
 * each version and collection, and with the tier before it `/v1/tiers/{tier}/{collection}/{call}` and
 * `/v1/tiers/{tier}/{version}/{collection}/{call}`. `v1` itself may be such a version.
 */
export type PathCalls = {
  /** The first of each is what a 404 names. */
  readonly versions: readonly string[];
  /** `:name` stands for any segment. */
  readonly collections: readonly string[];
  /** What can be called of a model. */
  readonly names: readonly string[];
  /**
   * This dialect as `call` (the last segment of the path, decoded) wants it spoken: its
   * `decodeRequest` knows the model and whether to stream. Null = no call of this dialect.
   */
  readonly dialectFor: (call: string, query: PathQuery) => ClientDialect | null;
};

/** The first value of a query parameter. */
export type PathQuery = (name: string) => string | undefined;

/** The extra object of `x-tiergate-meta: body`. */
export type AnswerMeta = JsonObject;

/** Where one answer goes on in the stream that another began: the ids of both targets. */
export type Joint = { readonly from: string; readonly to: string };

export type ClientStreamEncoder = {
  /**
   * The bytes to send for `part`; empty when it says nothing to this client. A part with a frame of
   * this dialect is passed as it is. Exactly one finish per choice and one terminator leave, the
   * terminator on the `end` event (with usage before it, when asked for).
   */
  readonly push: (part: StreamPart) => Buffer | string;
  /**
   * From here on another answer goes on in this stream: under the id, in the blocks and after the
   * opening of the first. Returns the comment that says so; '' where the framing has none.
   */
  readonly join: (joint: Joint) => string;
  /** The dialect's in-stream error event; nothing follows it. */
  readonly fail: (failure: RequestFailure) => string;
};

/** Told of what a client's own dialect has no form for, as often as it comes, before the meta is asked for. */
export type OnOmitted = (name: OmittedContent) => void;

export type StreamEncoderOptions = {
  readonly includeUsage: boolean;
  /** Used where the provider gave none. */
  readonly fallbackId: string;
  readonly createdAtSeconds: number;
  /** Asked when the last data event is written; null = not wanted. */
  readonly meta: (() => AnswerMeta) | null;
  /** What is answered, for a dialect whose answers repeat it. */
  readonly request?: ChatRequest;
  readonly onOmitted?: OnOmitted;
};

/** A tier as SDKs see a model. */
export type ListedModel = {
  readonly name: string;
  readonly description: string;
  readonly createdAtSeconds: number;
  /** What its largest target takes and gives, in tokens; null = unknown. */
  readonly inputTokensMax: number | null;
  readonly outputTokensMax: number | null;
};

/** How the clients of a dialect are told of the tiers, where it is not the usual form. */
export type ModelListing = {
  /** The first segment of paths (`/{version}/models`) under which this dialect alone lists; absent = it has none. */
  readonly version?: string;
  /** Whether a request to a path that dialects share comes from a client of this one. Header names in lower case. */
  readonly isAskedFor: (headers: { readonly [name: string]: unknown }) => boolean;
  readonly list: (models: readonly ListedModel[]) => JsonObject;
  readonly one: (model: ListedModel) => JsonObject;
};

export type ClientDialect = {
  readonly name: DialectName;
  /** Absent = a chat. */
  readonly operation?: OperationName;
  readonly routes: readonly DialectRoute[];
  readonly pathCalls?: PathCalls;
  /** The content type of its streams; absent = an event stream. */
  readonly streamType?: string;
  /** What its clients pass over between two events of a stream; absent = a comment of an event stream. */
  readonly keepAlive?: string;
  /** Whose SDK speaks it, as its users call it. */
  readonly sdk: string;
  /** What to set as the base URL in this dialect's SDK, given the server's origin; named in a 404. */
  readonly baseUrl: (origin: string) => string;
  /** The name of the header that carries the request's id where this dialect's SDK reads it. */
  readonly requestIdHeader: string;
  readonly modelListing?: ModelListing;
  readonly decodeRequest: (body: Buffer) => Result<DecodedRequest, RequestFault>;
  /** The body of a whole answer. `original` is the provider's own body when it spoke this dialect: returned as it is unless `meta` is wanted. */
  readonly encodeReply: (input: {
    readonly reply: ChatReply;
    readonly original: Buffer | null;
    readonly fallbackId: string;
    readonly createdAtSeconds: number;
    /** Asked when all else is written; null = not wanted. */
    readonly meta: (() => AnswerMeta) | null;
    /** What is answered, for a dialect whose answers repeat it. */
    readonly request?: ChatRequest;
    readonly onOmitted?: OnOmitted;
  }) => Buffer | string;
  readonly streamEncoder: (options: StreamEncoderOptions) => ClientStreamEncoder;
  /** The JSON body of an error answer, with the `tiergate` object inside the error. */
  readonly encodeError: (failure: RequestFailure) => string;
};

/** Text that a prompt variant puts before and after the caller's own leading system blocks; '' = none. */
export type SystemSplice = { readonly before: string; readonly after: string };

/** One request to one target, ready to be written in the target's dialect. */
export type UpstreamCall = {
  readonly request: ChatRequest;
  /** The provider's name for the model. */
  readonly model: string;
  readonly isStream: boolean;
  readonly system: SystemSplice | null;
  /** The parameters in force: the client's, with the target's and the variant's applied. */
  readonly parameters: ChatParameters;
  /** The names in `parameters` that the gateway set or changed: what a same-dialect edit writes. */
  readonly ownedParameters: readonly (keyof ChatParameters)[];
  /** Fields of the target's own dialect, set by the target or its variant, written as they are. */
  readonly extraFields: JsonObject;
  /** Tool descriptions that the variant overrides, by tool name. */
  readonly toolDescriptions: { readonly [toolName: string]: string };
  /** The model's output ceiling where known: a dialect that requires a limit uses it. */
  readonly maxOutputTokens: number | null;
  /** Whether the model refuses sampling fields or wants the newer output limit name; from the preset's table. */
  readonly isReasoningModel: boolean;
  /** The client's headers (lower case), when it speaks this dialect; absent = it does not. */
  readonly clientHeaders?: Readonly<Record<string, string | undefined>>;
  /** The reasoning efforts that the model knows, where it is known; none = it takes no effort. */
  readonly efforts?: readonly string[] | null;
  /**
   * The model that the conversation is taken to be held with, as far as this dialect's targets go:
   * reasoning that does not name its maker counts as made by it. Absent or null: nothing is known.
   */
  readonly usualModel?: string | null;
  /** The assistant's turn at the end is to be gone on with: nothing is put after it. */
  readonly isToBeContinued?: boolean;
  /** What the ids of items in the request mean to the account that is asked; absent = nothing is known. */
  readonly items?: {
    readonly isKeptHere: (id: string) => boolean;
    readonly isMadeElsewhere: (id: string) => boolean;
  };
};

export type EncodedCall = {
  readonly body: Buffer | string;
  /** Names of what this dialect could not carry and that only tunes. */
  readonly dropped: readonly string[];
};

/** Whom the call went to, for a dialect whose answers do not name their model. */
export type AskedModel = { readonly model?: string };

export type UpstreamStreamDecoder = {
  /** Parts of the events that `bytes` completed, in order. Any cut of the bytes gives the same events. */
  readonly push: (bytes: Buffer) => readonly StreamPart[];
  /** The body ended: what was left in the buffer. Adds no `end` that the provider did not send. */
  readonly end: () => readonly StreamPart[];
};

/** A call beside the chat: the same errors and hints, another path, another body. */
export type UpstreamOperation = Pick<
  UpstreamDialect,
  'decodeReply' | 'encodeCall' | 'missingAbility'
> & {
  /** Where it is asked for, from the URL of a whole chat. */
  readonly urlFrom: (chatUrl: string) => string;
};

/** What a request may say, by its canonical name. */
export type RequestField = 'messages' | 'tools' | 'tool_choice' | keyof ChatParameters;

export type UpstreamDialect = {
  readonly name: DialectName;
  /** What its fields are made of, where they are not named so: an error names a field of this dialect. */
  readonly fieldsFrom?: { readonly [field: string]: readonly RequestField[] };
  /** The content type of its streams; absent = an event stream. */
  readonly streamType?: string;
  readonly operations?: { readonly [name in OperationName]?: UpstreamOperation };
  /** Which of them this is, put in the place of the chat; absent = the chat. */
  readonly operation?: OperationName;
  /**
   * Why this dialect cannot carry the meaning of `request` to `model` (absent = to any model:
   * what the least can) (`ability:NAME` is the skip reason), or null. For a request of the same dialect always null.
   */
  readonly missingAbility: (request: ChatRequest, model?: string) => string | null;
  /** The fault says which part of the client's request cannot be written (400 `invalid_request`). */
  readonly encodeCall: (call: UpstreamCall) => Result<EncodedCall, RequestFault>;
  /** A whole 200 body as parts, ending in `end`. A body that is none of this dialect gives `malformed` or `error`. */
  readonly decodeReply: (body: Buffer, asked?: AskedModel) => readonly StreamPart[];
  readonly streamDecoder: (
    options: { readonly eventBytesMax: number } & AskedModel,
  ) => UpstreamStreamDecoder;
  /** Reads an error document; `body` is parsed JSON or the raw text. */
  readonly readError: (input: {
    readonly status: number | null;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  }) => ErrorFacts;
  readonly rules: readonly ErrorRule[];
  readonly hints: HintTable;
  /**
   * Kinds of tools that the provider itself runs and that may write (code execution, foreign servers;
   * search is none): a request that offers one is not repeated once its body was sent.
   */
  readonly writingTools?: RegExp;
  /** An answer that stops with nothing in it is more likely a mistake than an answer: ask once more. */
  readonly asksAgainWhenEmpty?: boolean;
};
