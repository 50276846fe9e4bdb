/** Fixed replies for a benchmark's upstream: no parsing, no rules, no records. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer, Prompt } from './prompt.ts';
import type { LeanMode } from './settings.ts';
import { frameBytes, streamHeaders } from './stream-form.ts';
import { type Vendor, wireOf } from './vendors/vendor.ts';

export type LeanResponder = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers each request in the wire of its endpoint, with the same words each time. */
export function leanResponder(vendor: Vendor, mode: LeanMode): LeanResponder {
  const own = wireResponder(vendor, mode);
  const others = new Map(vendor.wires?.map((wire) => [wire, wireResponder(wire, mode)]));
  if (others.size === 0) return own;
  return (request, response) => {
    const { method = 'GET', url: path = '/', headers } = request;
    const wire = wireOf(vendor, { method, path, query: noQuery, headers });
    (others.get(wire) ?? own)(request, response);
  };
}

const noQuery = new URLSearchParams();

/** By what the bytes ask for: a whole reply, or a stream with or without usage. */
function wireResponder(vendor: Vendor, mode: LeanMode): LeanResponder {
  const whole = Buffer.from(
    vendor.wholeBody(leanAnswer(mode), leanPrompt(false, false), identity(vendor)),
  );
  const streams = {
    plain: writes(vendor, mode, false),
    withUsage: writes(vendor, mode, true),
  };
  const wholeHeaders = { 'content-type': 'application/json', 'content-length': whole.length };
  const headers = { ...streamHeaders(vendor, false), 'transfer-encoding': 'chunked' };
  return (request, response) => {
    const isNamedStream = /:streamGenerateContent|\/converse-stream$/.test(request.url ?? '');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      if (!isNamedStream && !asksFor(body, 'stream')) {
        response.writeHead(200, wholeHeaders);
        response.end(whole);
        return;
      }
      response.writeHead(200, headers);
      // The chunks are framed beforehand: framing them anew costs more than all the rest.
      response.chunkedEncoding = false;
      writeAll(response, asksFor(body, 'include_usage') ? streams.withUsage : streams.plain, 0);
    });
  };
}

function asksFor(body: Buffer | undefined, name: string): boolean {
  return (
    body !== undefined && (body.includes(`"${name}":true`) || body.includes(`"${name}": true`))
  );
}

/** One write a turn of the event loop; a full socket is waited for. */
function writeAll(response: ServerResponse, all: readonly Buffer[], at: number): void {
  const bytes = all[at];
  if (response.destroyed) return;
  if (bytes === undefined || at === all.length - 1) {
    response.end(bytes);
    return;
  }
  const next = (): void => writeAll(response, all, at + 1);
  if (response.write(bytes)) setImmediate(next);
  else response.once('drain', next);
}

function writes(vendor: Vendor, mode: LeanMode, includeUsage: boolean): readonly Buffer[] {
  const prompt = leanPrompt(true, includeUsage);
  const settings = { identity: identity(vendor), isArray: false };
  const frames = vendor.frames(leanAnswer(mode), prompt, settings).map(({ frame }) => frame);
  const size = mode.eventsPerWrite === 0 ? frames.length : mode.eventsPerWrite;
  const joined: Buffer[] = [];
  for (let at = 0; at < frames.length; at += size) {
    const bytes = Buffer.from(frameBytes(vendor, frames.slice(at, at + size).join('')));
    const end = at + size < frames.length ? '' : '0\r\n\r\n';
    const size16 = bytes.length.toString(16);
    joined.push(Buffer.concat([Buffer.from(`${size16}\r\n`), bytes, Buffer.from(`\r\n${end}`)]));
  }
  return joined;
}

function identity(vendor: Vendor) {
  const hex = '0'.repeat(24);
  return {
    id: vendor.messageId(hex),
    requestId: `req_${hex}`,
    model: vendor.modelNames[0] ?? 'simulated',
    createdAtSeconds: 1_767_225_600,
    eol: vendor.eol,
  };
}

function leanAnswer({ words }: LeanMode): Answer {
  return {
    thinking: '',
    text: 'word '.repeat(words).trimEnd(),
    calls: [],
    end: 'complete',
    rawFinish: null,
    stopSequence: null,
    usage: { input: 10, cached: 0, output: words, thinking: 0 },
  };
}

function leanPrompt(isStream: boolean, includeUsage: boolean): Prompt {
  return {
    model: 'simulated',
    isStream,
    includeUsage,
    choices: 1,
    userText: '',
    images: [],
    toolResults: [],
    partial: null,
    tools: [],
    toolUse: { kind: 'none' },
    allowsParallelCalls: false,
    output: { kind: 'text' },
    stops: [],
    outputTokensMax: null,
    inputTokens: 10,
    cachedTokens: 0,
    thinkingTokens: 0,
    showsThinking: false,
  };
}
