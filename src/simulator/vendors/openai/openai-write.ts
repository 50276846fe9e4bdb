/** Writes answers as chat completions: whole, and as chunks of a stream. */

import { openaiLogprobs } from '../../likely-tokens.ts';
import type { Answer, Prompt, Usage } from '../../prompt.ts';
import { fragmentDeltas, textDeltas } from '../../token-estimate.ts';
import type { Frame, ReplyIdentity, StreamSettings, StreamWriter, ToolDelta } from '../vendor.ts';

const fingerprint = 'fp_simulated';

const finishReasons = {
  complete: 'stop',
  length: 'length',
  stop_sequence: 'stop',
  tools: 'tool_calls',
} as const satisfies { readonly [end in Answer['end']]: string };

function usageBody(usage: Usage) {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.thinking,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

export function openaiWhole(answer: Answer, prompt: Prompt, identity: ReplyIdentity): string {
  const message = {
    role: 'assistant',
    content: answer.calls.length > 0 ? null : answer.text,
    ...(answer.calls.length > 0 ? { tool_calls: answer.calls.map(wholeCall) } : {}),
    refusal: null,
    annotations: [],
  };
  return JSON.stringify({
    id: identity.id,
    object: 'chat.completion',
    created: identity.createdAtSeconds,
    model: identity.model,
    choices: Array.from({ length: prompt.choices }, (_, index) => ({
      index,
      message,
      logprobs: logprobsOf(answer.text, prompt.likelyTokens ?? null),
      finish_reason: finishReason(answer, prompt),
    })),
    usage: usageBody(times(answer.usage, prompt.choices)),
    service_tier: 'default',
    system_fingerprint: fingerprint,
  });
}

function logprobsOf(text: string, topMax: number | null): object | null {
  const content = openaiLogprobs(text, topMax);
  return content.length === 0 ? null : { content, refusal: null };
}

function wholeCall(call: Answer['calls'][number]) {
  return {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  };
}

/** A named tool choice ends with `stop` although there are calls: the real one does so. */
function finishReason(answer: Answer, prompt: Prompt): string {
  if (answer.rawFinish !== null) return answer.rawFinish;
  const isNamed = prompt.toolUse.kind === 'required' && prompt.toolUse.names?.length === 1;
  return answer.end === 'tools' && isNamed ? 'stop' : finishReasons[answer.end];
}

function times(usage: Usage, choices: number): Usage {
  return { ...usage, output: usage.output * choices, thinking: usage.thinking * choices };
}

export function openaiFrames(
  answer: Answer,
  prompt: Prompt,
  { identity }: { readonly identity: ReplyIdentity },
): readonly Frame[] {
  const usage = times(answer.usage, prompt.choices);
  const settings = {
    identity,
    usage,
    includeUsage: prompt.includeUsage,
    isArray: false,
    likelyTokens: prompt.likelyTokens ?? null,
    signature: () => null,
  };
  const frames: Frame[] = [];
  const say = (frame: string, content = ''): void => {
    frames.push({ frame, content });
  };
  for (let choice = 0; choice < prompt.choices; choice += 1) {
    const writer = openaiStreamWriter({ ...settings, choice });
    say(writer.open());
    for (const delta of textDeltas(answer.text)) say(writer.text(delta), delta);
    for (const [index, call] of answer.calls.entries()) {
      say(writer.tool({ index, id: call.id, name: call.name, arguments: '' }), call.name);
      for (const delta of fragmentDeltas(call.arguments, 12)) {
        say(writer.tool({ index, id: null, name: null, arguments: delta }), delta);
      }
    }
    say(writer.finish(finishReason(answer, prompt), usage));
  }
  const writer = openaiStreamWriter({ ...settings, choice: 0 });
  if (prompt.includeUsage) say(writer.usage(usage));
  say(writer.done());
  return frames;
}

export function openaiStreamWriter(settings: StreamSettings): StreamWriter {
  const { identity, includeUsage, choice, likelyTokens = null } = settings;
  const { eol } = identity;
  const created = identity.createdAtSeconds;
  const start = `data: {"id":${JSON.stringify(identity.id)},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(identity.model)},"service_tier":"default","system_fingerprint":"${fingerprint}","choices":[`;
  const end = `]${includeUsage ? ',"usage":null' : ''}}${eol}${eol}`;
  const chunk = (delta: unknown, finish: string | null, logprobs: object | null = null): string =>
    `${start}{"index":${choice},"delta":${JSON.stringify(delta)},"logprobs":${JSON.stringify(logprobs)},"finish_reason":${JSON.stringify(finish)}}${end}`;
  return {
    open: () => chunk({ role: 'assistant', content: '', refusal: null }, null),
    text: (text) => chunk({ content: text }, null, logprobsOf(text, likelyTokens)),
    // Not OpenAI's own: how services that copy its wire carry thinking.
    think: (text) => chunk({ reasoning_content: text }, null),
    tool: (delta) => chunk({ tool_calls: [toolDelta(delta)] }, null),
    finish: (reason) => chunk({}, reason),
    finishCarriesUsage: false,
    usage: (usage) => `${start}],"usage":${JSON.stringify(usageBody(usage))}}${eol}${eol}`,
    done: () => `data: [DONE]${eol}${eol}`,
    ping: () => `: keep-alive${eol}${eol}`,
  };
}

function toolDelta(delta: ToolDelta) {
  const called = {
    ...(delta.name === null ? {} : { name: delta.name }),
    ...(delta.arguments === null ? {} : { arguments: delta.arguments }),
  };
  return {
    ...(delta.index === null ? {} : { index: delta.index }),
    ...(delta.id === null ? {} : { id: delta.id }),
    ...(delta.name === null ? {} : { type: 'function' }),
    function: called,
  };
}
