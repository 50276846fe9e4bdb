/** A body of any kind from a client to a provider of each dialect: what is wrong with what came of it. */
import { isJsonObject, parseJson, property, stringAt } from '../../../src/base/json.ts';
import type { Random } from '../../../src/base/random.ts';
import { parseAnswer } from '../../../src/dialects/answer-json.ts';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import { readGeminiError } from '../gemini-answers.ts';
import { below, isChosen } from '../schedule-draws.ts';
import { mutatedJson } from './mutate-json.ts';
import type { ClientRoute } from './request-corpus.ts';
import type { Answered, RequestGateway } from './request-gateway.ts';

/** One of the route's bodies, changed in up to four places, and sometimes cut or overwritten in its bytes. */
export function mutatedBody({ bodies }: ClientRoute, random: Random): Buffer {
  let value: unknown = bodies[below(random, bodies.length)];
  let text = JSON.stringify(value);
  for (let left = 1 + below(random, 4); left > 0; left -= 1) {
    text = mutatedJson(value, random);
    const parsed = parseAnswer(text);
    // Too deep or no JSON any more: it stays as it is.
    if (!parsed.ok || text.length > 20_000) break;
    value = parsed.value;
  }
  const bytes = Buffer.from(text);
  if (isChosen(random, 0.1)) bytes[below(random, bytes.length)] = below(random, 256);
  return isChosen(random, 0.02) ? bytes.subarray(0, below(random, bytes.length)) : bytes;
}

const tiers = [...upstreamDialects.keys()];

/** Null: it was answered, or refused in the client's own form. */
export async function requestFault(
  gateway: RequestGateway,
  route: ClientRoute,
  body: Buffer,
): Promise<string | null> {
  for (const tier of tiers) {
    try {
      const fault = answerFault(route, await gateway.ask(route.dialect, tier, body));
      if (fault !== null) return `to ${tier}: ${fault}`;
    } catch (error) {
      return `to ${tier}: ${error instanceof Error ? error.stack : String(error)}`;
    }
  }
  return null;
}

/** 503: an answer that only the account which keeps it could go on with. 502: the target refused what stands in a translation alone. */
function isRefusal(status: number, body: string): boolean {
  if (status === 503) return body.includes('kept by the account');
  return status === 400 || status === 404 || (status === 502 && body.includes('(invalid_request,'));
}

function answerFault({ dialect }: ClientRoute, { status, body }: Answered): string | null {
  if (status === 200) return null;
  if (!isRefusal(status, body)) return `status ${status}: ${body.slice(0, 500)}`;
  const parsed = parseJson(body);
  const error = parsed.ok ? property(parsed.value, 'error') : null;
  if (!isJsonObject(error) || !stringAt(error, 'message')) return `no error: ${body.slice(0, 300)}`;
  if (dialect.name === 'gemini') readGeminiError(body);
  else if (stringAt(error, 'type') === null) return 'an error without a type';
  const isMessages = dialect.name === 'anthropic-messages';
  if (isMessages && parsed.ok && stringAt(parsed.value, 'type') !== 'error') return 'no type';
  return null;
}
