/** A dialect of single lines, so that tests of the engine depend on no codec: `T:hello`, `FIN:stop`, `END`. */
import { parseJson, property, stringAt } from '../../src/base/json.ts';
import { success } from '../../src/base/result.ts';
import { type ChatRequest, noParameters } from '../../src/chat/request.ts';
import type { ChatEvent, StreamPart } from '../../src/chat/stream-event.ts';
import { unknownUsage } from '../../src/chat/usage.ts';
import type { UpstreamDialect } from '../../src/dialects/dialect.ts';

/** `START`, `START:model`, `BEGIN:id`, `T:text` (`\\n` for a line end), `THINK:text`, `CALL`, `REFUSE:text`, `WORK`, `FIN:reason`, `USE:in:out`, `PING`, `BAD`, `ERR:status:message`, `END`. A digit after `T` or `FIN` names another choice than the first. */
function eventOf(line: string): ChatEvent {
  const [named = '', ...rest] = line.split(':');
  const text = rest.join(':');
  const choice = Number(/^(?:T|FIN)(\d)$/.exec(named)?.[1] ?? 0);
  switch (choice === 0 ? named : named.slice(0, -1)) {
    case 'START':
      return { type: 'start', id: 'r-1', model: text === '' ? 'm' : text };
    case 'BEGIN':
      return { type: 'start', id: text, model: 'm' };
    case 'T':
      return { type: 'text', choice, text: text.replaceAll('\\n', '\n') };
    case 'THINK':
      return { type: 'reasoning', choice: 0, text };
    case 'REFUSE':
      return { type: 'refusal', choice: 0, text };
    case 'CALL':
      return { type: 'tool_call_start', choice: 0, index: 0, id: 'c-1', name: 'look' };
    case 'FIN':
      return { type: 'finish', choice, reason: 'stop', raw: text };
    case 'USE': {
      const [inputTokens, outputTokens] = rest.map(Number);
      return {
        type: 'usage',
        usage: {
          ...unknownUsage,
          inputTokens: inputTokens ?? null,
          outputTokens: outputTokens ?? null,
        },
      };
    }
    case 'WORK':
      return { type: 'activity', isProgress: true };
    case 'PING':
      return { type: 'activity', isProgress: false };
    case 'ERR':
      return {
        type: 'error',
        status: Number(rest[0]),
        body: { error: { code: rest[1] ?? '', message: rest[2] ?? '' } },
      };
    case 'END':
      return { type: 'end' };
    default:
      return { type: 'malformed' };
  }
}

function partsOf(text: string): StreamPart[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ events: [eventOf(line)], frame: null }));
}

export const plainDialect: UpstreamDialect = {
  name: 'plain',
  missingAbility: () => null,
  encodeCall: ({ model, request, parameters: { max_tokens } }) => {
    const body = JSON.stringify({ model, messages: request.messages, max_tokens });
    return success({ body, dropped: [] });
  },
  decodeReply: (body) => {
    const parts = partsOf(body.toString());
    const hasEnd = parts.some(({ events }) => events[0]?.type === 'end');
    return hasEnd ? parts : [...parts, ...partsOf('END')];
  },
  streamDecoder: () => {
    let rest = '';
    return {
      push: (bytes) => {
        const lines = (rest + bytes.toString()).split('\n');
        rest = lines.pop() ?? '';
        return partsOf(lines.join('\n'));
      },
      end: () => partsOf(rest),
    };
  },
  readError: ({ status, body }) => {
    const error = property(typeof body === 'string' ? parsed(body) : body, 'error');
    return {
      status,
      code: stringAt(error, 'code'),
      type: stringAt(error, 'type'),
      param: stringAt(error, 'param'),
      message: stringAt(error, 'message') ?? '',
      reasons: [],
      upstreamRequestId: null,
      isKnownShape: error !== undefined,
    };
  },
  rules: [],
  hints: { limits: [], bodyDelay: () => null },
  writingTools: /^writes/,
};

function parsed(text: string): unknown {
  const result = parseJson(text);
  return result.ok ? result.value : null;
}

export function plainRequest(over: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: 'fast',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }], name: null }],
    tools: [],
    providerTools: [],
    toolChoice: null,
    parameters: noParameters,
    isStream: true,
    includeUsage: false,
    otherFields: [],
    original: { dialect: 'plain', bytes: Buffer.from('{}'), json: {} },
    ...over,
  };
}
