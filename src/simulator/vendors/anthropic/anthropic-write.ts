/** Writes answers as Anthropic messages: whole, and as the events of a stream. */
import { parseJson } from '../../../base/json.ts';
import type { Answer, Prompt, Usage } from '../../prompt.ts';
import { fragmentDeltas, textDeltas } from '../../token-estimate.ts';
import type { Frame, ReplyIdentity, StreamSettings, StreamWriter, ToolDelta } from '../vendor.ts';
import { thinkingSignature } from './anthropic-signature.ts';

const stopReasons = {
  complete: 'end_turn',
  length: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tools: 'tool_use',
} as const satisfies { readonly [end in Answer['end']]: string };

/** `input_tokens` leaves out what the cache held. */
function inputUsage(usage: Usage) {
  return {
    input_tokens: usage.input - usage.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  };
}

function fullUsage(usage: Usage) {
  return {
    ...inputUsage(usage),
    output_tokens: usage.output,
    ...(usage.thinking > 0 ? { output_tokens_details: { thinking_tokens: usage.thinking } } : {}),
    service_tier: 'standard',
  };
}

function envelope(identity: ReplyIdentity) {
  return { id: identity.id, type: 'message', role: 'assistant', model: identity.model };
}

export function anthropicWhole(answer: Answer, prompt: Prompt, identity: ReplyIdentity): string {
  const content = [
    ...thinkingBlocks(answer, prompt),
    ...(answer.text === '' ? [] : [{ type: 'text', text: answer.text }]),
    ...answer.calls.map((call) => {
      const input = parseJson(call.arguments);
      return { type: 'tool_use', id: call.id, name: call.name, input: input.ok ? input.value : {} };
    }),
  ];
  return JSON.stringify({
    ...envelope(identity),
    content,
    stop_reason: answer.rawFinish ?? stopReasons[answer.end],
    stop_sequence: answer.stopSequence,
    stop_details: null,
    usage: fullUsage(answer.usage),
  });
}

/** A thinking block; one without text when its display is omitted. */
function thinkingBlocks(answer: Answer, prompt: Prompt) {
  if (prompt.thinkingTokens === 0) return [];
  const { thinking } = answer;
  return [{ type: 'thinking', thinking, signature: thinkingSignature(thinking) }];
}

export function anthropicFrames(
  answer: Answer,
  prompt: Prompt,
  { identity }: { readonly identity: ReplyIdentity },
): readonly Frame[] {
  const signature = (): string => thinkingSignature(answer.thinking);
  const writer = anthropicStreamWriter(
    { identity, usage: answer.usage, includeUsage: true, isArray: false, choice: 0, signature },
    answer.stopSequence,
  );
  const frames: Frame[] = [];
  const say = (frame: string, content = ''): void => {
    frames.push({ frame, content });
  };
  say(writer.open());
  say(writer.ping());
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
  say(writer.finish(answer.rawFinish ?? stopReasons[answer.end], answer.usage));
  say(writer.done());
  return frames;
}

type WriteEvent = (name: string, fields: object) => string;

function eventWriter(eol: string): WriteEvent {
  return (name, fields) =>
    `event: ${name}${eol}data: ${JSON.stringify({ type: name, ...fields })}${eol}${eol}`;
}

export function anthropicStreamWriter(
  settings: StreamSettings,
  stopSequence: string | null = null,
): StreamWriter {
  const { identity, usage } = settings;
  const event = eventWriter(identity.eol);
  const blocks = new ContentBlocks(event, settings.signature);
  const ending = (reason: string | null, final: Usage): string =>
    event('message_delta', {
      delta: { stop_reason: reason, stop_sequence: stopSequence },
      usage: fullUsage(final),
    });
  return {
    open: () =>
      event('message_start', {
        message: {
          ...envelope(identity),
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...inputUsage(usage), output_tokens: 1, service_tier: 'standard' },
        },
      }),
    text: (text) => blocks.text(text),
    think: (thinking) => blocks.think(thinking),
    tool: (part) => blocks.tool(part),
    finish: (reason, final) => blocks.close() + ending(reason, final),
    finishCarriesUsage: true,
    usage: (final) => ending(null, final),
    done: () => blocks.close() + event('message_stop', {}),
    ping: () => event('ping', {}),
  };
}

/** The events of the content: one block is open at a time, and a delta of another kind closes it. */
class ContentBlocks {
  readonly #event: WriteEvent;
  readonly #signature: (nth: number) => string | null;
  readonly #blockOfTool = new Map<number | null, number>();
  #open: 'text' | 'thinking' | 'tool' | null = null;
  #last = -1;
  #signed = 0;

  constructor(event: WriteEvent, signature: (nth: number) => string | null) {
    this.#event = event;
    this.#signature = signature;
  }

  text(text: string): string {
    const opening = this.#open === 'text' ? '' : this.#begin('text', { type: 'text', text: '' });
    return opening + this.#delta(this.#last, { type: 'text_delta', text });
  }

  think(thinking: string): string {
    const block = { type: 'thinking', thinking: '', signature: '' };
    const opening = this.#open === 'thinking' ? '' : this.#begin('thinking', block);
    return opening + this.#delta(this.#last, { type: 'thinking_delta', thinking });
  }

  tool(part: ToolDelta): string {
    const isNew = part.name !== null || !this.#blockOfTool.has(part.index);
    const opening = isNew ? this.#begin('tool', toolBlock(part)) : '';
    if (isNew) this.#blockOfTool.set(part.index, this.#last);
    if (part.arguments === null) return opening;
    const index = this.#blockOfTool.get(part.index) ?? this.#last;
    const fields = { type: 'input_json_delta', partial_json: part.arguments };
    return opening + this.#delta(index, fields);
  }

  /** Ends the open block; '' when there is none. */
  close(): string {
    if (this.#open === null) return '';
    const stopping = this.#event('content_block_stop', { index: this.#last });
    const isThinking = this.#open === 'thinking';
    this.#open = null;
    if (!isThinking) return stopping;
    this.#signed += 1;
    const signature = this.#signature(this.#signed);
    if (signature === null) return stopping;
    return this.#delta(this.#last, { type: 'signature_delta', signature }) + stopping;
  }

  #begin(kind: 'text' | 'thinking' | 'tool', block: object): string {
    const closing = this.close();
    this.#open = kind;
    this.#last += 1;
    return (
      closing + this.#event('content_block_start', { index: this.#last, content_block: block })
    );
  }

  #delta(index: number, fields: object): string {
    return this.#event('content_block_delta', { index, delta: fields });
  }
}

function toolBlock(part: ToolDelta) {
  return {
    type: 'tool_use',
    ...(part.id === null ? {} : { id: part.id }),
    ...(part.name === null ? {} : { name: part.name }),
    input: {},
  };
}
