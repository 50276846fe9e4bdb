/** Turns a scripted call into a reply plan in a vendor's wire. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { unreachable } from '../../base/unreachable.ts';
import { prefillRefusal } from '../answer-plan.ts';
import { goOn } from '../go-on.ts';
import type { Answer, Prompt, Usage } from '../prompt.ts';
import {
  type Beat,
  bytesBeat,
  type ContentEncoding,
  type Headers,
  type ReplyPlan,
} from '../reply-plan.ts';
import { streamBeats, streamHeaders } from '../stream-form.ts';
import { estimateTokens } from '../token-estimate.ts';
import type { ReplyIdentity, StreamWriter, Vendor } from '../vendors/vendor.ts';
import type { ParsedCall } from './scripted-call.ts';
import { type Step, unrolled } from './step.ts';

export type ScriptScene = {
  readonly vendor: Vendor;
  readonly prompt: Prompt;
  readonly identity: ReplyIdentity;
  /** Whether the client asked for one growing array. */
  readonly isArray: boolean;
};

/** Null when the provider is to answer by itself (with `call`'s headers and delay). */
export function scriptPlan(call: ParsedCall, scene: ScriptScene): ReplyPlan | null {
  const { content } = call;
  switch (content.kind) {
    case 'answer':
      return null;
    case 'bytes':
      return wholePlan(call, content.bytes, typed(call, content.contentType));
    case 'text':
      return textPlan(call, content, scene);
    case 'story':
      return storyPlan(call, content, scene);
    case 'steps':
      return { ...beatsPlan(call, scene), beats: beatsOf(content.steps, call, scene) };
    case 'socket':
      return {
        ...beatsPlan(call, scene),
        head: null,
        beats: beatsOf(content.steps, call, scene),
        encoding: null,
      };
    default:
      return unreachable(content);
  }
}

function typed(call: ParsedCall, contentType: string | null): Headers {
  return { ...(contentType === null ? {} : { 'content-type': contentType }), ...call.headers };
}

function wholePlan(call: ParsedCall, body: string | Buffer, headers: Headers): ReplyPlan {
  const encoded = encodeWhole(body, encodingOf(call));
  const { status, delayMs, splitBytes } = call;
  if (splitBytes === 0) return { kind: 'whole', delayMs, status, headers, body: encoded };
  const head = { status, headers: { 'content-length': String(encoded.length), ...headers } };
  return { kind: 'beats', delayMs, head, beats: [bytesBeat(encoded)], splitBytes, encoding: null };
}

/** Bytes of a body under its `content-encoding`; a body given as bytes is taken to be encoded already. */
function encodeWhole(body: string | Buffer, encoding: ContentEncoding | null): Buffer {
  if (typeof body !== 'string') return body;
  const bytes = Buffer.from(body);
  if (encoding === null) return bytes;
  if (encoding === 'br') return brotliCompressSync(bytes);
  return encoding === 'gzip' ? gzipSync(bytes) : deflateSync(bytes);
}

function encodingOf(call: ParsedCall): ContentEncoding | null {
  const encoding = call.headers['content-encoding'];
  return encoding === 'gzip' || encoding === 'br' || encoding === 'deflate' ? encoding : null;
}

function textPlan(
  call: ParsedCall,
  { text, finish }: { readonly text: string; readonly finish: string | null },
  scene: ScriptScene,
): ReplyPlan {
  const { vendor, identity, isArray } = scene;
  const answer: Answer = {
    thinking: '',
    text,
    calls: [],
    end: 'complete',
    rawFinish: finish,
    stopSequence: null,
    usage: { ...inputUsage(scene.prompt), output: estimateTokens(text) },
  };
  const prompt = { ...scene.prompt, choices: 1, thinkingTokens: 0 };
  if (!prompt.isStream) {
    return wholePlan(
      call,
      vendor.wholeBody(answer, prompt, identity),
      typed(call, 'application/json'),
    );
  }
  const settings = { identity: { ...identity, eol: eolOf(call, scene) }, isArray };
  const beats = vendor.frames(answer, prompt, settings).map(({ frame }) => bytesBeat(frame));
  return { ...beatsPlan(call, scene), beats: streamBeats(vendor, beats) };
}

/** All of it; of a part that the conversation ends with what follows, in its manner. */
function storyPlan(
  call: ParsedCall,
  { text, manner, takesPrefill }: Extract<ParsedCall['content'], { kind: 'story' }>,
  scene: ScriptScene,
): ReplyPlan {
  const { partial } = scene.prompt;
  const refusal = takesPrefill ? null : prefillRefusal(scene.prompt, scene);
  if (refusal !== null) return { ...refusal, delayMs: call.delayMs };
  const rest = partial === null ? null : goOn(text, partial, manner);
  return textPlan(call, { text: rest ?? text, finish: null }, scene);
}

function inputUsage(prompt: Prompt): Usage {
  return { input: prompt.inputTokens, cached: 0, output: 0, thinking: 0 };
}

function beatsPlan(call: ParsedCall, scene: ScriptScene): Extract<ReplyPlan, { kind: 'beats' }> {
  const headers = {
    ...streamHeaders(scene.vendor, scene.isArray),
    ...scene.vendor.replyHeaders(scene.identity),
    ...call.headers,
  };
  return {
    kind: 'beats',
    delayMs: call.delayMs,
    head: { status: call.status, headers },
    beats: [],
    splitBytes: call.splitBytes,
    encoding: encodingOf(call),
  };
}

function eolOf(call: ParsedCall, scene: ScriptScene): string {
  return call.eol ?? scene.vendor.eol;
}

function writerFor(call: ParsedCall, scene: ScriptScene): StreamWriter {
  const { vendor, prompt, identity, isArray } = scene;
  return vendor.streamWriter({
    identity: { ...identity, eol: eolOf(call, scene) },
    usage: inputUsage(prompt),
    includeUsage: prompt.includeUsage,
    isArray,
    choice: 0,
    likelyTokens: prompt.likelyTokens ?? null,
    signature: (nth) => `sig-${nth}`,
  });
}

function beatsOf(steps: readonly Step[], call: ParsedCall, scene: ScriptScene): Iterable<Beat> {
  return streamBeats(scene.vendor, writtenBeats(steps, call, scene));
}

function* writtenBeats(
  steps: readonly Step[],
  call: ParsedCall,
  scene: ScriptScene,
): Iterable<Beat> {
  const eol = eolOf(call, scene);
  const writer = writerFor(call, scene);
  let usage = inputUsage(scene.prompt);
  let isTold = false;
  let finish: string | null = null;
  for (const step of unrolled(steps)) {
    if (step.kind === 'usage') {
      usage = { ...usage, input: step.input, output: step.output };
      isTold = true;
    }
    // A finish waits for what follows it: a USAGE right behind belongs into the same event where
    // the vendor has it there.
    if (finish !== null) yield bytesBeat(writer.finish(finish, usage));
    const isCarried = finish !== null && writer.finishCarriesUsage;
    finish = step.kind === 'finish' ? step.reason : null;
    if (step.kind === 'finish' || (step.kind === 'usage' && isCarried)) continue;
    if ((step.kind === 'text' || step.kind === 'think') && !isTold) {
      usage = { ...usage, output: usage.output + estimateTokens(step.text) };
    }
    // Only text has room for a comment.
    if (step.kind === 'comment' && scene.vendor.binaryStreams !== undefined) continue;
    const beat = step.kind === 'usage' ? bytesBeat(writer.usage(usage)) : beatOf(step, writer, eol);
    if (beat !== null) yield beat;
  }
  if (finish !== null) yield bytesBeat(writer.finish(finish, usage));
}

function beatOf(
  step: Exclude<Step, { kind: 'repeat' | 'usage' | 'finish' }>,
  writer: StreamWriter,
  eol: string,
): Beat | null {
  switch (step.kind) {
    case 'open':
      return frameBeat(writer.open());
    case 'text':
      return frameBeat(writer.text(step.text));
    case 'think':
      return frameBeat(writer.think(step.text));
    case 'tool':
      return frameBeat(writer.tool(step.delta));
    case 'done':
      return frameBeat(writer.done());
    case 'ping':
      return frameBeat(writer.ping());
    case 'comment':
      return bytesBeat(`:${step.text}${eol}${eol}`);
    case 'raw':
      return step.bytes.length === 0 ? null : bytesBeat(step.bytes);
    case 'sleep':
      return { kind: 'wait', ms: step.ms };
    case 'hang':
    case 'end':
    case 'cut':
    case 'reset':
      return { kind: step.kind };
    default:
      return unreachable(step);
  }
}

function frameBeat(frame: string): Beat | null {
  return frame === '' ? null : bytesBeat(frame);
}
