/** Writes answers as GenerateContentResponse: whole, as events, and as one growing JSON array. */
import { parseJson } from '../../../base/json.ts';
import { type LikelyToken, writtenTokens } from '../../likely-tokens.ts';
import type { Answer, Prompt, Usage } from '../../prompt.ts';
import { textDeltas } from '../../token-estimate.ts';
import type { Frame, ReplyIdentity, StreamSettings, StreamWriter, ToolDelta } from '../vendor.ts';
import { isGemini3, isSigning, thoughtSignature } from './gemini-signature.ts';

/** Calls end with STOP: only their parts tell. */
const finishReasons = {
  complete: 'STOP',
  length: 'MAX_TOKENS',
  stop_sequence: 'STOP',
  tools: 'STOP',
} as const satisfies { readonly [end in Answer['end']]: string };

/** Absent rather than 0; candidates leave thoughts out. */
function usageMetadata(usage: Usage) {
  const spoken = usage.output - usage.thinking;
  return {
    promptTokenCount: usage.input,
    ...(spoken > 0 ? { candidatesTokenCount: spoken } : {}),
    totalTokenCount: usage.input + usage.output,
    ...(usage.cached > 0 ? { cachedContentTokenCount: usage.cached } : {}),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.input }],
    ...(usage.thinking > 0 ? { thoughtsTokenCount: usage.thinking } : {}),
  };
}

function tail(identity: ReplyIdentity, usage: Usage) {
  return {
    usageMetadata: usageMetadata(usage),
    modelVersion: identity.model,
    responseId: identity.id,
  };
}

/** Only the first of parallel calls is signed. */
function signatureFor(answer: Answer, model: string) {
  return (nth: number): string | null =>
    nth === 1 && isSigning(model) ? thoughtSignature(model, answer.calls[0]?.name ?? '') : null;
}

export function geminiWhole(answer: Answer, prompt: Prompt, identity: ReplyIdentity): string {
  const signature = signatureFor(answer, prompt.model);
  const parts = [
    ...(answer.thinking === '' ? [] : [{ text: answer.thinking, thought: true }]),
    ...(answer.text === '' ? [] : [{ text: answer.text }]),
    ...answer.calls.map((call, index) => {
      const id = isGemini3(prompt.model) ? { id: call.id } : {};
      const args = parseJson(call.arguments);
      const signed = signature(index + 1);
      return {
        functionCall: { ...id, name: call.name, args: args.ok ? args.value : {} },
        ...(signed === null ? {} : { thoughtSignature: signed }),
      };
    }),
  ];
  // Tokens spent before any word: the content has no parts at all.
  const content = parts.length === 0 ? { role: 'model' } : { parts, role: 'model' };
  const candidates = Array.from({ length: prompt.choices }, (_, index) => ({
    content,
    finishReason: answer.rawFinish ?? finishReasons[answer.end],
    index,
    ...logprobsOf(answer.text, prompt.likelyTokens ?? null),
  }));
  const body = { candidates, ...tail(identity, answer.usage) };
  return `${JSON.stringify(body, null, 2)}\n`;
}

/** The average is that of these tokens, which in a stream are a part of all. */
function logprobsOf(text: string, topMax: number | null): object {
  const tokens = topMax === null ? [] : writtenTokens(text, topMax);
  if (tokens.length === 0) return {};
  const told = ({ token, logprob }: LikelyToken) => ({
    token,
    tokenId: token.length,
    logProbability: logprob,
  });
  const sum = tokens.reduce((all, { logprob }) => all + logprob, 0);
  const topCandidates = tokens.map(({ top }) => ({ candidates: top.map(told) }));
  return {
    avgLogprobs: sum / tokens.length,
    logprobsResult: {
      chosenCandidates: tokens.map(told),
      ...(topMax === 0 ? {} : { topCandidates }),
    },
  };
}

export function geminiFrames(
  answer: Answer,
  prompt: Prompt,
  { identity, isArray }: { readonly identity: ReplyIdentity; readonly isArray: boolean },
): readonly Frame[] {
  const writer = geminiStreamWriter({
    identity,
    usage: { ...answer.usage, output: 0, thinking: 0 },
    includeUsage: true,
    isArray,
    choice: 0,
    likelyTokens: prompt.likelyTokens ?? null,
    signature: signatureFor(answer, prompt.model),
  });
  const frames: Frame[] = [];
  const say = (frame: string, content = ''): void => {
    frames.push({ frame, content });
  };
  for (const delta of textDeltas(answer.thinking)) say(writer.think(delta), delta);
  for (const delta of textDeltas(answer.text)) say(writer.text(delta), delta);
  for (const [index, call] of answer.calls.entries()) {
    const id = isGemini3(prompt.model) ? call.id : null;
    say(writer.tool({ index, id, name: call.name, arguments: call.arguments }), call.arguments);
  }
  say(writer.finish(answer.rawFinish ?? finishReasons[answer.end], answer.usage));
  if (isArray) say(writer.done());
  return frames;
}

/** `settings.usage` stands in every chunk; a finish brings the final one. */
export function geminiStreamWriter(settings: StreamSettings): StreamWriter {
  const { identity, usage, isArray, likelyTokens = null } = settings;
  const { eol } = identity;
  let written = 0;
  let calls = 0;
  const framed = (json: string): string => {
    if (!isArray) return `data: ${json}${eol}${eol}`;
    const isFirst = written === 0;
    written += 1;
    return `${isFirst ? '[' : `,${eol}`}${json}${eol}`;
  };
  const chunk = (part: string, finish: string | null, current: Usage, more = ''): string => {
    const finishing = finish === null ? '' : `,"finishReason":${JSON.stringify(finish)}`;
    const rest = JSON.stringify(tail(identity, current)).slice(1);
    return framed(
      `{"candidates":[{"content":{"parts":[${part}],"role":"model"}${finishing},"index":0${more}}],${rest}`,
    );
  };
  const say = (part: object): string => chunk(JSON.stringify(part), null, usage);
  return {
    open: () => framed(JSON.stringify(tail(identity, usage))),
    text: (text) => {
      const logprobs = JSON.stringify(logprobsOf(text, likelyTokens)).slice(1, -1);
      const more = logprobs === '' ? '' : `,${logprobs}`;
      return chunk(JSON.stringify({ text }), null, usage, more);
    },
    think: (text) => say({ text, thought: true }),
    tool: (delta) => {
      calls += 1;
      return chunk(callPart(delta, settings.signature(calls)), null, usage);
    },
    finish: (reason, final) => chunk('{"text":""}', reason, final),
    finishCarriesUsage: true,
    usage: (final) => framed(JSON.stringify(tail(identity, final))),
    done: () => (isArray ? `${written === 0 ? '[' : ''}]${eol}` : ''),
    ping: () => (isArray ? '' : `: keep-alive${eol}${eol}`),
  };
}

/** Calls arrive whole: `arguments` stands in the event as it is, so that a script can break it. */
function callPart(delta: ToolDelta, signature: string | null): string {
  const fields = [
    ...(delta.id === null ? [] : [`"id":${JSON.stringify(delta.id)}`]),
    ...(delta.name === null ? [] : [`"name":${JSON.stringify(delta.name)}`]),
    ...(delta.arguments === null || delta.arguments === '' ? [] : [`"args":${delta.arguments}`]),
  ];
  const signed = signature === null ? '' : `,"thoughtSignature":${JSON.stringify(signature)}`;
  return `{"functionCall":{${fields.join(',')}}${signed}}`;
}
