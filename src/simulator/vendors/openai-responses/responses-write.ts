/** Writes answers as responses: whole, and as the events of a stream. */
import type { Answer, Prompt, Usage } from '../../prompt.ts';
import { fragmentDeltas, textDeltas } from '../../token-estimate.ts';
import type { Frame, ReplyIdentity, StreamSettings, StreamWriter } from '../vendor.ts';
import { encryptedReasoning } from './encrypted-reasoning.ts';
import { ResponseItems, type WriteEvent } from './response-items.ts';

/** How an answer ended: a status, and after a colon why it is incomplete. */
const ends = {
  complete: 'completed',
  length: 'incomplete:max_output_tokens',
  stop_sequence: 'completed',
  tools: 'completed',
} as const satisfies { readonly [end in Answer['end']]: string };

function usageBody(usage: Usage) {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.thinking },
    total_tokens: usage.input + usage.output,
  };
}

type End = {
  readonly status: string;
  readonly output: readonly object[];
  readonly usage: Usage | null;
};

function responseBody(identity: ReplyIdentity, { status: said, output, usage }: End) {
  const [status = '', reason = null] = said.split(':');
  return {
    id: identity.id,
    object: 'response',
    created_at: identity.createdAtSeconds,
    status,
    background: false,
    error:
      status === 'failed'
        ? {
            code: 'server_error',
            message: 'The server had an error while processing your request.',
          }
        : null,
    incomplete_details: reason === null ? null : { reason },
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: identity.model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage: usage === null ? null : usageBody(usage),
    user: null,
    metadata: {},
  };
}

/** The digits that tell this answer's items from others'. */
function itemId(identity: ReplyIdentity, prefix: string, index: number): string {
  return `${prefix}_${identity.id.replace(/^resp_/, '')}${index}`;
}

export function responsesWhole(answer: Answer, prompt: Prompt, identity: ReplyIdentity): string {
  const status = answer.rawFinish ?? ends[answer.end];
  const items = new ResponseItems({
    event: () => '',
    idOf: (prefix, index) => itemId(identity, prefix, index),
    sealed: sealFor(prompt),
    likelyTokens: prompt.likelyTokens ?? null,
  });
  if (prompt.thinkingTokens > 0) items.think(answer.thinking);
  if (answer.text !== '') items.text(answer.text);
  for (const [index, { id, name, arguments: text }] of answer.calls.entries()) {
    items.tool({ index, id, name, arguments: text });
  }
  const output = items.output(itemStatus(status));
  return JSON.stringify(responseBody(identity, { status, output, usage: answer.usage }));
}

function sealFor(prompt: Prompt): (thinking: string) => string | null {
  return (thinking) => (prompt.sealsThinking === true ? encryptedReasoning(thinking) : null);
}

function itemStatus(status: string): 'completed' | 'incomplete' {
  return status === 'completed' ? 'completed' : 'incomplete';
}

export function responsesFrames(
  answer: Answer,
  prompt: Prompt,
  { identity }: { readonly identity: ReplyIdentity },
): readonly Frame[] {
  const writer = writerOf(identity, prompt.likelyTokens ?? null, sealFor(prompt));
  const frames: Frame[] = [];
  const say = (frame: string, content = ''): void => {
    if (frame !== '') frames.push({ frame, content });
  };
  say(writer.open());
  if (prompt.thinkingTokens > 0) {
    if (answer.thinking === '') say(writer.think(''));
    for (const delta of textDeltas(answer.thinking)) say(writer.think(delta), delta);
  }
  for (const delta of textDeltas(answer.text)) say(writer.text(delta), delta);
  for (const [index, call] of answer.calls.entries()) {
    say(writer.tool({ index, id: call.id, name: call.name, arguments: '' }), call.name);
    for (const delta of fragmentDeltas(call.arguments, 12)) {
      say(writer.tool({ index, id: null, name: null, arguments: delta }), delta);
    }
  }
  say(writer.finish(answer.rawFinish ?? ends[answer.end], answer.usage));
  return frames;
}

export function responsesStreamWriter(settings: StreamSettings): StreamWriter {
  const { identity, signature, likelyTokens = null } = settings;
  let sealed = 0;
  return writerOf(identity, likelyTokens, () => {
    sealed += 1;
    return signature(sealed);
  });
}

/** Every event is numbered, from 0. There is no marker behind the last one. */
function writerOf(
  identity: ReplyIdentity,
  likelyTokens: number | null,
  sealed: (thinking: string) => string | null,
): StreamWriter {
  let number = 0;
  const { eol } = identity;
  const event: WriteEvent = (type, fields) => {
    const data = JSON.stringify({ type, sequence_number: number, ...fields });
    number += 1;
    return `event: ${type}${eol}data: ${data}${eol}${eol}`;
  };
  const seals = new Map<string, string | null>();
  const items = new ResponseItems({
    event,
    likelyTokens,
    idOf: (prefix, index) => itemId(identity, prefix, index),
    // The same in the item's last event and in the response that ends the stream.
    sealed: (thinking) => {
      if (!seals.has(thinking)) seals.set(thinking, sealed(thinking));
      return seals.get(thinking) ?? null;
    },
  });
  const begun = { status: 'in_progress', output: [], usage: null };
  return {
    open: () =>
      event('response.created', { response: responseBody(identity, begun) }) +
      event('response.in_progress', { response: responseBody(identity, begun) }),
    text: (text) => items.text(text),
    think: (text) => items.think(text),
    tool: (delta) => items.tool(delta),
    finish: (reason, usage) => {
      const status = itemStatus(reason);
      const closing = items.close(status);
      const end = { status: reason, output: items.output(status), usage };
      const [name = ''] = reason.split(':');
      return closing + event(`response.${name}`, { response: responseBody(identity, end) });
    },
    finishCarriesUsage: true,
    usage: () => '',
    done: () => '',
    ping: () => event('keepalive', {}),
  };
}
