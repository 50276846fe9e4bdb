/** Writes answers as Converse does: whole, and as the messages of a binary stream. */
import { parseJson } from '../../../base/json.ts';
import type { Answer, Prompt, Usage } from '../../prompt.ts';
import { fragmentDeltas, textDeltas } from '../../token-estimate.ts';
import type { Frame, StreamSettings, StreamWriter, ToolDelta } from '../vendor.ts';
import { eventFrame } from './bedrock-frames.ts';
import { reasoningSignature } from './bedrock-signature.ts';

const stopReasons = {
  complete: 'end_turn',
  length: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tools: 'tool_use',
} as const satisfies { readonly [end in Answer['end']]: string };

/** `inputTokens` leaves out what the cache held. */
function usageOf(usage: Usage) {
  return {
    inputTokens: usage.input - usage.cached,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    ...(usage.cached > 0 ? { cacheReadInputTokens: usage.cached, cacheWriteInputTokens: 0 } : {}),
  };
}

export function bedrockWhole(answer: Answer, prompt: Prompt): string {
  const content = [
    ...(prompt.thinkingTokens > 0 ? [reasoningBlock(answer.thinking)] : []),
    ...(answer.text === '' ? [] : [{ text: answer.text }]),
    ...answer.calls.map((call) => {
      const input = parseJson(call.arguments);
      const value = input.ok ? input.value : {};
      return { toolUse: { toolUseId: call.id, name: call.name, input: value } };
    }),
  ];
  return JSON.stringify({
    output: { message: { role: 'assistant', content } },
    stopReason: answer.rawFinish ?? stopReasons[answer.end],
    usage: usageOf(answer.usage),
    metrics: { latencyMs: 10 },
  });
}

function reasoningBlock(text: string) {
  return { reasoningContent: { reasoningText: { text, signature: reasoningSignature(text) } } };
}

export function bedrockFrames(
  answer: Answer,
  prompt: Prompt,
  { identity }: Pick<StreamSettings, 'identity'>,
): readonly Frame[] {
  const signature = (): string => reasoningSignature(answer.thinking);
  const { usage } = answer;
  const settings = { identity, usage, includeUsage: true, isArray: false, choice: 0, signature };
  const writer = bedrockStreamWriter(settings);
  const frames: Frame[] = [];
  const say = (frame: string, content = ''): void => {
    frames.push({ frame, content });
  };
  say(writer.open());
  if (prompt.thinkingTokens > 0) {
    for (const delta of textDeltas(answer.thinking)) say(writer.think(delta), delta);
  }
  for (const delta of textDeltas(answer.text)) say(writer.text(delta), delta);
  for (const [index, call] of answer.calls.entries()) {
    say(writer.tool({ index, id: call.id, name: call.name, arguments: null }), call.name);
    for (const delta of fragmentDeltas(call.arguments, 12)) {
      say(writer.tool({ index, id: null, name: null, arguments: delta }), delta);
    }
  }
  say(writer.finish(answer.rawFinish ?? stopReasons[answer.end], usage));
  say(writer.usage(usage));
  return frames;
}

/** There is no mark of the end: the body ends after the metadata. */
export function bedrockStreamWriter(settings: StreamSettings): StreamWriter {
  const blocks = new ContentBlocks(settings.signature);
  return {
    open: () => paddedFrame('messageStart', { role: 'assistant' }),
    text: (text) => blocks.text(text),
    think: (text) => blocks.think(text),
    tool: (part) => blocks.tool(part),
    finish: (stopReason) => blocks.close() + paddedFrame('messageStop', { stopReason }),
    finishCarriesUsage: false,
    usage: (usage) =>
      paddedFrame('metadata', { usage: usageOf(usage), metrics: { latencyMs: 10 } }),
    done: () => '',
    ping: () => '',
  };
}

const letters = 'abcdefghijklmnopqrstuvwxyz';

/** Each event carries a field of changing length that means nothing. */
function paddedFrame(type: string, payload: object): string {
  const length = 1 + (JSON.stringify(payload).length % letters.length);
  return eventFrame(type, { ...payload, p: letters.slice(0, length) });
}

/** The events of the content: one block is open at a time, and a delta of another kind closes it. */
class ContentBlocks {
  readonly #signature: (nth: number) => string | null;
  readonly #blockOfTool = new Map<number | null, number>();
  #open: 'text' | 'thinking' | 'tool' | null = null;
  #last = -1;
  #signed = 0;

  constructor(signature: (nth: number) => string | null) {
    this.#signature = signature;
  }

  text(text: string): string {
    return this.#in('text') + this.#delta(this.#last, { text });
  }

  think(text: string): string {
    return this.#in('thinking') + this.#delta(this.#last, { reasoningContent: { text } });
  }

  tool(part: ToolDelta): string {
    const isNew = part.name !== null || !this.#blockOfTool.has(part.index);
    const opening = isNew ? this.#begin('tool') + this.#startTool(part) : '';
    if (isNew) this.#blockOfTool.set(part.index, this.#last);
    if (part.arguments === null) return opening;
    const block = this.#blockOfTool.get(part.index) ?? this.#last;
    return opening + this.#delta(block, { toolUse: { input: part.arguments } });
  }

  /** Ends the open block; '' when there is none. */
  close(): string {
    if (this.#open === null) return '';
    const signing = this.#open === 'thinking' ? this.#sign() : '';
    this.#open = null;
    return signing + paddedFrame('contentBlockStop', { contentBlockIndex: this.#last });
  }

  #sign(): string {
    this.#signed += 1;
    const signature = this.#signature(this.#signed);
    return signature === null ? '' : this.#delta(this.#last, { reasoningContent: { signature } });
  }

  #in(kind: 'text' | 'thinking'): string {
    return this.#open === kind ? '' : this.#begin(kind);
  }

  /** Only a tool's block has an event of its own to begin with. */
  #begin(kind: 'text' | 'thinking' | 'tool'): string {
    const closing = this.close();
    this.#open = kind;
    this.#last += 1;
    return closing;
  }

  #startTool({ id, name }: ToolDelta): string {
    const toolUse = {
      ...(id === null ? {} : { toolUseId: id }),
      ...(name === null ? {} : { name }),
    };
    return paddedFrame('contentBlockStart', {
      contentBlockIndex: this.#last,
      start: { toolUse },
    });
  }

  #delta(contentBlockIndex: number, delta: object): string {
    return paddedFrame('contentBlockDelta', { contentBlockIndex, delta });
  }
}
