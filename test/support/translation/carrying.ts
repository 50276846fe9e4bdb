/** What becomes of a feature on its way to a target of another dialect, as the code decides it. */

import type { JsonObject } from '../../../src/base/json.ts';
import type { EncodedCall, UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { clientDialects } from '../../../src/dialects/registry.ts';
import { anthropicMessagesFeatures } from './anthropic-messages-features.ts';
import type { DialectFeatures, Feature } from './feature.ts';
import { geminiFeatures } from './gemini-features.ts';
import { openaiChatFeatures } from './openai-chat-features.ts';
import { openaiResponsesFeatures } from './openai-responses-features.ts';

export const clientFeatures: { readonly [dialect: string]: DialectFeatures } = {
  'openai-chat': openaiChatFeatures,
  'openai-responses': openaiResponsesFeatures,
  'anthropic-messages': anthropicMessagesFeatures,
  gemini: geminiFeatures,
};

export type Carrying =
  /** The very body of the client. */
  | { readonly kind: 'as_it_came' }
  | { readonly kind: 'carried' }
  /** In another form, or in part: `names` stand in `x-tiergate-dropped`. */
  | { readonly kind: 'adapted'; readonly names: readonly string[] }
  | { readonly kind: 'left_out'; readonly names: readonly string[] }
  /** Another target is asked; without one it is a 400. */
  | { readonly kind: 'refused'; readonly ability: string }
  | { readonly kind: 'fault'; readonly message: string }
  /** Must not be: dropped in silence. */
  | { readonly kind: 'lost'; readonly body: string };

/** A model of middle age in each dialect: what the newest take besides stands in their tables. */
const models: { readonly [dialect: string]: string } = {
  'openai-chat': 'gpt-4.1',
  'openai-responses': 'gpt-4.1',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-flash',
  'bedrock-converse': 'anthropic.claude-sonnet-4-5-20250929-v1:0',
};

/** `shows` is looked for in what goes out, so that nothing counts as carried for being claimed to be. */
export function carry(client: string, feature: Feature, upstream: UpstreamDialect): Carrying {
  const base = clientFeatures[client]?.base;
  const plain = sent(client, { ...base }, upstream);
  const given = sent(client, { ...base, ...feature.body }, upstream);
  if ('kind' in plain) throw new Error(`${client} -> ${upstream.name}: ${JSON.stringify(plain)}`);
  if ('kind' in given) return given;
  const body = given.body.toString();
  const shows = feature.shows.test(body);
  const names = given.dropped.filter((name) => !plain.dropped.includes(name));
  if (names.length > 0) return { kind: shows ? 'adapted' : 'left_out', names };
  if (!shows) return { kind: 'lost', body };
  return { kind: client === upstream.name ? 'as_it_came' : 'carried' };
}

function sent(client: string, body: JsonObject, upstream: UpstreamDialect): EncodedCall | Carrying {
  const decoded = clientDialects.get(client)?.decodeRequest(Buffer.from(JSON.stringify(body)));
  if (decoded?.ok !== true) throw new Error(`${client}: ${decoded?.fault.message}`);
  const { request } = decoded.value;
  const ability = upstream.missingAbility(request);
  if (ability !== null) return { kind: 'refused', ability };
  const model = models[upstream.name] ?? '';
  const encoded = upstream.encodeCall({
    request,
    model,
    isStream: false,
    system: null,
    parameters: request.parameters,
    ownedParameters: [],
    extraFields: {},
    toolDescriptions: {},
    maxOutputTokens: 64_000,
    isReasoningModel: false,
    usualModel: model,
  });
  return encoded.ok ? encoded.value : { kind: 'fault', message: encoded.fault.message };
}

/** In a cell of the table. */
export function carryingWords(carrying: Carrying): string {
  switch (carrying.kind) {
    case 'as_it_came':
      return 'as it came';
    case 'carried':
      return 'carried';
    case 'adapted':
      return `adapted, named ${quoted(carrying.names)}`;
    case 'left_out':
      return `left out, named ${quoted(carrying.names)}`;
    case 'refused':
      return `refused: lacks \`${carrying.ability}\``;
    case 'fault':
      return 'refused: 400';
    case 'lost':
      return 'LOST';
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
