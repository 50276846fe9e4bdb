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

type OpenBlock = { readonly kind: 'text' | 'thinking' | 'tool'; readonly index: number };

/** One block is open at a time; a delta of another kind closes it. */
export function anthropicStreamWriter(
  settings: StreamSettings,
  stopSequence: string | null = null,
): StreamWriter {
  const { identity, usage } = settings;
  const blockOfTool = new Map<number | null, number>();
  let open: OpenBlock | null = null;
  let blocks = 0;
  let signed = 0;
  const event = (name: string, fields: object): string =>
    `event: ${name}${identity.eol}data: ${JSON.stringify({ type: name, ...fields })}${identity.eol}${identity.eol}`;
  const delta = (index: number, fields: object): string =>
    event('content_block_delta', { index, delta: fields });
  const close = (): string => {
    if (open === null) return '';
    const { kind, index } = open;
    open = null;
    if (kind === 'thinking') signed += 1;
    const signature = kind === 'thinking' ? settings.signature(signed) : null;
    const signing = signature === null ? '' : delta(index, { type: 'signature_delta', signature });
    return signing + event('content_block_stop', { index });
  };
  const openBlock = (kind: OpenBlock['kind'], block: object): string => {
    const closing = close();
    open = { kind, index: blocks };
    blocks += 1;
    return closing + event('content_block_start', { index: open.index, content_block: block });
  };
  const inBlock = (kind: 'text' | 'thinking', block: object, fields: object): string => {
    const opening = open?.kind === kind ? '' : openBlock(kind, block);
    return opening + delta(blocks - 1, fields);
  };
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
    text: (text) => inBlock('text', { type: 'text', text: '' }, { type: 'text_delta', text }),
    think: (thinking) =>
      inBlock(
        'thinking',
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking },
      ),
    tool: (part) => {
      const isNew = part.name !== null || !blockOfTool.has(part.index);
      const opening = isNew ? openBlock('tool', toolBlock(part)) : '';
      if (isNew) blockOfTool.set(part.index, blocks - 1);
      const index = blockOfTool.get(part.index) ?? blocks - 1;
      if (part.arguments === null) return opening;
      return opening + delta(index, { type: 'input_json_delta', partial_json: part.arguments });
    },
    finish: (reason, final) =>
      close() +
      event('message_delta', {
        delta: { stop_reason: reason, stop_sequence: stopSequence },
        usage: fullUsage(final),
      }),
    finishCarriesUsage: true,
    usage: (final) =>
      event('message_delta', {
        delta: { stop_reason: null, stop_sequence: null },
        usage: fullUsage(final),
      }),
    done: () => close() + event('message_stop', {}),
    ping: () => event('ping', {}),
  };
}

function toolBlock(part: ToolDelta) {
  return {
    type: 'tool_use',
    ...(part.id === null ? {} : { id: part.id }),
    ...(part.name === null ? {} : { name: part.name }),
    input: {},
  };
}
