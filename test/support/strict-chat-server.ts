/**
 * Servers on loopback that speak Chat Completions as strictly as the services of the presets do: what
 * those refuse, by their documents and by what was recorded or reported of them, is refused here.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LoopbackServer, startHttp } from './loopback-server.ts';

export type Json = { readonly [key: string]: unknown };

export type Refusal = { readonly status: number; readonly body: Json };

/** Null: the service would answer. */
type Judge = (body: Json, request: IncomingMessage) => Refusal | null;

export type StrictServer = LoopbackServer & {
  readonly bodies: Json[];
  readonly urls: string[];
  readonly refusals: Refusal[];
};

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);
const messagesOf = (body: Json): readonly Json[] => list(body['messages']);
const callsOf = (message: Json): readonly Json[] => list(message['tool_calls']);
const partsOf = (message: Json): readonly Json[] => list(message['content']);

function unknownKey(value: Json, known: string): string | null {
  const names = known.split(/\s+/);
  return Object.keys(value).find((key) => !names.includes(key)) ?? null;
}

function refused(status: number, message: string): Refusal {
  return { status, body: { error: { message, type: 'invalid_request_error', code: null } } };
}

function first<Item>(
  items: readonly Item[],
  judge: (item: Item) => Refusal | null,
): Refusal | null {
  for (const item of items) {
    const refusal = judge(item);
    if (refusal !== null) return refusal;
  }
  return null;
}

function bearer(request: IncomingMessage, status: number): Refusal | null {
  if (request.headers.authorization === 'Bearer SECRET-1') return null;
  return refused(status, 'Incorrect API key provided');
}

function extraForbidden(place: readonly unknown[]): Refusal {
  const detail = [{ type: 'extra_forbidden', loc: place, msg: 'Extra inputs are not permitted' }];
  return { status: 422, body: { object: 'error', message: { detail } } };
}

const mistral: Judge = (body) => {
  const field = unknownKey(
    body,
    `model messages temperature top_p max_tokens stream stop random_seed metadata response_format
     tools tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls
     prompt_mode reasoning_effort safe_prompt guardrails prompt_cache_key`,
  );
  if (field !== null) return extraForbidden(['body', field]);
  const known: Readonly<Record<string, string>> = {
    system: 'role content',
    user: 'role content',
    assistant: 'role content tool_calls prefix',
    tool: 'role content tool_call_id name',
  };
  const odd = first(messagesOf(body), (message) => {
    const role = String(message['role']);
    const key = unknownKey(message, known[role] ?? '');
    if (key !== null) return extraForbidden(['body', 'messages', role, key]);
    const ids = [...callsOf(message).map(({ id }) => id), message['tool_call_id']];
    const id = ids.find((each) => each !== undefined && !/^[A-Za-z0-9]{9}$/.test(String(each)));
    return id === undefined
      ? null
      : refused(400, `Tool call id was ${id} but must be 9 of a-z, A-Z, 0-9`);
  });
  if (odd !== null) return odd;
  if (
    typeof body['tool_choice'] === 'object' &&
    (body['tool_choice'] as Json)['type'] !== 'function'
  ) {
    return refused(422, 'tool_choice');
  }
  const last = messagesOf(body).at(-1);
  const isFine =
    last?.['role'] === 'user' || last?.['role'] === 'tool' || last?.['prefix'] === true;
  return isFine
    ? null
    : refused(400, 'Expected last role User or Tool (or Assistant with prefix True)');
};

const groq: Judge = (body) => {
  const field = unknownKey(
    body,
    `model messages temperature top_p max_tokens max_completion_tokens stream stream_options stop
     seed presence_penalty frequency_penalty n user functions function_call tools tool_choice
     parallel_tool_calls response_format reasoning_effort reasoning_format include_reasoning
     service_tier citation_options compound_custom disable_tool_validation documents search_settings`,
  );
  if (field !== null) return refused(400, `property '${field}' is unsupported`);
  if ((body['n'] ?? 1) !== 1) return refused(400, "'n' must be 1");
  if (list(body['stop']).length > 4) return refused(400, "'stop' : maximum number of items is 4");
  const tier = String(body['service_tier'] ?? 'auto');
  if (!['auto', 'on_demand', 'flex', 'performance'].includes(tier))
    return refused(400, 'service_tier');
  if (!['low', 'medium', 'high'].includes(String(body['reasoning_effort'] ?? 'low'))) {
    return refused(400, "'reasoning_effort' must be one of low, medium, high");
  }
  return first(messagesOf(body), (message) => {
    if (message['role'] === 'developer') return refused(400, 'role');
    const key = unknownKey(message, 'role content tool_calls tool_call_id');
    return key === null ? null : refused(400, `property '${key}' is unsupported`);
  });
};

const deepseek: Judge = (body) => {
  const format = (body['response_format'] as Json | undefined)?.['type'] ?? 'text';
  if (format !== 'text' && format !== 'json_object') {
    return refused(400, 'This response_format type is unavailable now');
  }
  const isThinking = (body['thinking'] as Json | undefined)?.['type'] !== 'disabled';
  return first([...messagesOf(body).entries()], ([index, message]) => {
    if (!['system', 'user', 'assistant', 'tool'].includes(String(message['role']))) {
      return refused(422, `messages[${index}].role: unknown variant \`${message['role']}\``);
    }
    if (partsOf(message).some(({ type }) => type !== 'text')) {
      return refused(422, `messages[${index}]: unknown variant, expected \`text\``);
    }
    const hasReasoning = typeof message['reasoning_content'] === 'string';
    const hasCalls = callsOf(message).length > 0;
    if (isThinking && hasCalls && !hasReasoning) {
      return refused(
        400,
        `Missing \`reasoning_content\` field in the assistant message at message index ${index}.`,
      );
    }
    return hasReasoning && !hasCalls ? refused(400, 'reasoning_content is not allowed here') : null;
  });
};

const xai: Judge = (body, request) => {
  const badKey = bearer(request, 400);
  if (badKey !== null) return badKey;
  const isReasoning = !/non-reasoning/.test(String(body['model']));
  const names = isReasoning ? ['stop'] : [];
  const name = [...names, 'presence_penalty', 'frequency_penalty', 'logit_bias'].find(
    (each) => (body[each] ?? null) !== null,
  );
  if (name === undefined) return null;
  return {
    status: 400,
    body: {
      code: 'Client specified an invalid argument',
      error: `Argument not supported: ${name}`,
    },
  };
};

const together: Judge = (body) => {
  if (typeof body['logprobs'] === 'boolean') return refused(422, 'logprobs: expected an integer');
  return typeof body['tool_choice'] === 'object' &&
    (body['tool_choice'] as Json)['type'] === 'allowed_tools'
    ? refused(422, 'tool_choice')
    : null;
};

/** It refuses little, and does not heed what it does not know: that is told here as a refusal. */
const ollama: Judge = (body) => {
  for (const name of ['logit_bias', 'user', 'max_completion_tokens', 'parallel_tool_calls']) {
    if ((body[name] ?? null) !== null) return refused(418, `${name} is not heeded`);
  }
  if ((body['n'] ?? 1) !== 1) return refused(418, 'n is not heeded');
  if (!['auto', undefined].includes(body['tool_choice'] as undefined)) {
    return refused(418, 'tool_choice is not heeded');
  }
  return first(messagesOf(body).flatMap(partsOf), (part) => {
    const url = String((part['image_url'] as Json | undefined)?.['url'] ?? 'data:');
    return url.startsWith('data:') ? null : refused(400, 'invalid image input');
  });
};

const openrouter: Judge = (body) => {
  if ((body['n'] ?? 1) !== 1) return refused(418, 'n is not heeded');
  return first(messagesOf(body), (message) =>
    'reasoning_content' in message ? refused(418, 'reasoning of nobody knows whom') : null,
  );
};

const vllm: Judge = (body) =>
  typeof body['tool_choice'] === 'object' && (body['tool_choice'] as Json)['type'] !== 'function'
    ? refused(400, 'tool_choice')
    : null;

const azure: Judge = (body, request) => {
  if (request.headers['api-key'] !== 'SECRET-1')
    return refused(401, 'Access denied due to invalid subscription key');
  const url = new URL(request.url ?? '', 'http://azure');
  const version = url.searchParams.get('api-version');
  if (version !== null && version < '2024-09-01' && 'stream_options' in body) {
    return refused(400, 'Unrecognized request argument supplied: stream_options');
  }
  const isDeployed =
    version === null ? body['model'] === 'prod' : url.pathname.includes('/deployments/prod/');
  return isDeployed
    ? null
    : { status: 404, body: { error: { code: 'DeploymentNotFound', message: 'x' } } };
};

export const strictJudges = {
  'azure-openai': azure,
  deepseek,
  groq,
  mistral,
  ollama,
  openrouter,
  together,
  vllm,
  xai,
} satisfies Readonly<Record<string, Judge>>;

export type StrictKind = keyof typeof strictJudges;

const reply = {
  id: 'x1',
  object: 'chat.completion',
  created: 1,
  model: 'served',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'strictly yours' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

function chunk(choice: Json | null, rest: Json = {}): string {
  const choices = choice === null ? [] : [{ index: 0, ...choice }];
  return `data: ${JSON.stringify({ id: 'x1', object: 'chat.completion.chunk', created: 1, model: 'served', choices, ...rest })}\n\n`;
}

/** Each in its own manner: comments, filters before the first word, usage in odd places, no `[DONE]`. */
const streams: { readonly [kind in StrictKind]: () => string } = (() => {
  const said = [
    chunk({ delta: { role: 'assistant', content: 'strictly ' } }),
    chunk({ delta: { content: 'yours' } }),
  ].join('');
  const finish = chunk({ delta: {}, finish_reason: 'stop' });
  const usage = chunk(null, { usage: reply.usage });
  const done = 'data: [DONE]\n\n';
  const plain = () => said + finish + usage + done;
  const withUsage = chunk(
    { delta: { content: '' }, finish_reason: 'stop' },
    { usage: reply.usage },
  );
  return {
    'azure-openai': () => chunk(null, { id: '', model: '', prompt_filter_results: [] }) + plain(),
    deepseek: () => `: keep-alive\n\n${plain()}`,
    groq: () =>
      said + chunk({ delta: {}, finish_reason: 'stop' }, { x_groq: { usage: reply.usage } }) + done,
    mistral: () => said + withUsage + done,
    ollama: plain,
    openrouter: () => `: OPENROUTER PROCESSING\n\n${plain()}`,
    together: () =>
      said + chunk({ delta: {}, finish_reason: 'eos' }, { usage: reply.usage }) + done,
    vllm: () => said + finish + usage,
    xai: plain,
  };
})();

export async function startStrictServer(kind: StrictKind): Promise<StrictServer> {
  const seen = { bodies: [] as Json[], urls: [] as string[], refusals: [] as Refusal[] };
  const server = await startHttp((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      const body: Json = JSON.parse(text);
      seen.bodies.push(body);
      seen.urls.push(request.url ?? '');
      const refusal = strictJudges[kind](body, request);
      if (refusal !== null) seen.refusals.push(refusal);
      answer(response, refusal, body['stream'] === true ? streams[kind]() : null);
    });
  });
  return { ...server, ...seen };
}

function answer(response: ServerResponse, refusal: Refusal | null, stream: string | null): void {
  if (refusal === null && stream !== null) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream);
    return;
  }
  response
    .writeHead(refusal?.status ?? 200, { 'content-type': 'application/json' })
    .end(JSON.stringify(refusal?.body ?? reply));
}
