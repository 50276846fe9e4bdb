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

type Model = { readonly name: string; readonly isReasoning: boolean };

export type Age = 'older' | 'newer';

/** A model of middle age, which takes sampling fields, and one that thinks. */
export const sampleModels: { readonly [dialect: string]: { readonly [age in Age]: Model } } = {
  'openai-chat': aged('gpt-4.1', 'gpt-5.4'),
  'openai-responses': aged('gpt-4.1', 'gpt-5.4'),
  'anthropic-messages': aged('claude-sonnet-4-5', 'claude-sonnet-5'),
  gemini: aged('gemini-2.5-flash', 'gemini-3.5-flash'),
  'bedrock-converse': aged(
    'anthropic.claude-sonnet-4-5-20250929-v1:0',
    'global.anthropic.claude-sonnet-5',
  ),
};

function aged(older: string, newer: string) {
  const isReasoning = newer.startsWith('gpt');
  return { older: { name: older, isReasoning: false }, newer: { name: newer, isReasoning } };
}

/** `shows` is looked for in what goes out, so that nothing counts as carried for being claimed to be. */
export function carry(
  client: string,
  feature: Feature,
  { upstream, age }: { readonly upstream: UpstreamDialect; readonly age: Age },
): Carrying {
  const base = clientFeatures[client]?.base;
  const model = sampleModels[upstream.name]?.[age];
  if (model === undefined) throw new Error(`no model of ${upstream.name}`);
  const to = { upstream, model };
  const plain = sent(client, { ...base }, to);
  const given = sent(client, { ...base, ...feature.body }, to);
  if ('kind' in plain) throw new Error(`${client} -> ${upstream.name}: ${JSON.stringify(plain)}`);
  if ('kind' in given) return given;
  const body = given.body.toString();
  const shows = feature.shows.test(body);
  const names = given.dropped.filter((name) => !plain.dropped.includes(name));
  if (names.length > 0) return { kind: shows ? 'adapted' : 'left_out', names };
  if (!shows) return { kind: 'lost', body };
  return { kind: client === upstream.name ? 'as_it_came' : 'carried' };
}

function sent(
  client: string,
  body: JsonObject,
  { upstream, model }: { readonly upstream: UpstreamDialect; readonly model: Model },
): EncodedCall | Carrying {
  const decoded = clientDialects.get(client)?.decodeRequest(Buffer.from(JSON.stringify(body)));
  if (decoded?.ok !== true) throw new Error(`${client}: ${decoded?.fault.message}`);
  const { request } = decoded.value;
  const ability = upstream.missingAbility(request, model.name);
  if (ability !== null) return { kind: 'refused', ability };
  const encoded = upstream.encodeCall({
    request,
    model: model.name,
    isStream: false,
    system: null,
    parameters: request.parameters,
    ownedParameters: [],
    extraFields: {},
    toolDescriptions: {},
    maxOutputTokens: 64_000,
    isReasoningModel: model.isReasoning,
    usualModel: model.name,
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
