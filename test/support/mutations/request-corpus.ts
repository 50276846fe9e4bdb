/** Bodies that clients of each dialect send: every feature of the translation tables, and recorded ones where they are. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, parseJson } from '../../../src/base/json.ts';
import type { ClientDialect } from '../../../src/dialects/dialect.ts';
import { clientDialects } from '../../../src/dialects/registry.ts';
import { recordedFolder } from '../../conformance/dialects/recorded-fixtures.ts';
import { clientFeatures } from '../translation/carrying.ts';

export type ClientRoute = {
  readonly name: string;
  readonly dialect: ClientDialect;
  readonly bodies: readonly unknown[];
};

const recordedPrefixes: { readonly [dialect: string]: readonly string[] } = {
  'openai-chat': ['openai-chat-', 'deepseek-', 'mistral-', 'openrouter-'],
  'openai-responses': ['openai-responses-', 'xai-responses-'],
  'anthropic-messages': ['anthropic-'],
  gemini: ['gemini-'],
};

function recordedBodies(dialect: string): readonly unknown[] {
  const root = recordedFolder();
  if (root === null) return [];
  const folder = join(root, 'requests');
  return readdirSync(folder)
    .filter((file) => recordedPrefixes[dialect]?.some((prefix) => file.startsWith(prefix)))
    .map((file) => {
      const parsed = parseJson(readFileSync(join(folder, file), 'utf8'));
      return parsed.ok ? parsed.value : {};
    });
}

function featureBodies(dialect: string): readonly JsonObject[] {
  const features = clientFeatures[dialect];
  if (features === undefined) throw new Error(`no bodies of ${dialect}`);
  const bodies = features.groups
    .flatMap((group) => group.features)
    .map(({ body }) => ({ ...features.base, ...body }));
  return [features.base, ...bodies];
}

const pathCalls = ['generateContent', 'streamGenerateContent', 'countTokens'];

function routesOf(dialect: ClientDialect): readonly ClientRoute[] {
  const bodies = [...featureBodies(dialect.name), ...recordedBodies(dialect.name)];
  const asWhole = dialect.routes.map(({ suffix, speaks }) => ({
    name: suffix,
    dialect: speaks ?? dialect,
    bodies:
      suffix === 'embeddings' ? [{ model: 'tier', input: ['a', 'b'], dimensions: 8 }] : bodies,
  }));
  const inPath = pathCalls.flatMap((call) => {
    const spoken = dialect.pathCalls?.dialectFor(`tier:${call}`, () => 'sse') ?? null;
    return spoken === null ? [] : [{ name: call, dialect: spoken, bodies }];
  });
  return [...asWhole, ...inPath];
}

export const clientRoutes: readonly ClientRoute[] = [...clientDialects.values()].flatMap(routesOf);
