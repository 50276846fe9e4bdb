/**
 * Azure OpenAI and the models of Foundry, over the three surfaces of Chat Completions that they have.
 * Facts: learn.microsoft.com, REST and quota references, and recorded answers, November 2026.
 */
import { z } from 'zod';
import { type JsonObject, objectAt, stringAt } from '../base/json.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import type { ChatQuirks } from '../dialects/openai-chat/chat-quirks.ts';
import { openaiChatWith } from '../dialects/openai-chat/upstream.ts';
import type { ErrorRule } from '../failure/error-rule.ts';
import { authChoice } from './auth-choice.ts';
import { chatKind } from './chat-kind.ts';
import { openaiModelFacts } from './openai.ts';

const { field: authField, ...auth } = authChoice('api-key');

/** Of the Foundry surface, where the document names none. */
const foundryVersion = '2024-05-01-preview';
/** Before it, `stream_options` is an unknown parameter. */
const streamOptionsSince = '2024-09-01';

/** What it says in words of its own; the rest is as the dialect has it. */
const errorRules: readonly ErrorRule[] = [
  {
    name: 'azure.no-capacity',
    status: [429, 503],
    code: ['NoCapacity'],
    errorClass: 'overload',
  },
  {
    name: 'azure.too-many-requests',
    status: [503],
    message: /processing too many requests/i,
    errorClass: 'overload',
  },
  // A wrong path or version: no model of this target can be reached.
  {
    name: 'azure.no-resource',
    status: [404],
    message: /^resource not found/i,
    errorClass: 'not_found',
  },
];

const quirks: ChatQuirks = { stopSequencesMax: 4, toolsMax: 128, errorRules };

function versionIn(own: JsonObject): string | null {
  return stringAt(own, 'api_version');
}

/** What the resource calls the deployment of a model: the document's word for it, else the model's name. */
function deploymentOf(model: string, own: JsonObject): string {
  return stringAt(objectAt(own, 'deployments'), model) ?? model;
}

function upstreamOf(own: JsonObject): UpstreamDialect {
  const version = versionIn(own);
  const takesStreamOptions = version === null || version >= streamOptionsSince;
  const dialect = openaiChatWith({
    ...quirks,
    ...(takesStreamOptions ? {} : { takesStreamOptions }),
  });
  // Its resets are bare numbers, seconds on one surface and milliseconds on another; a 429 always
  // says retry-after as well.
  return { ...dialect, hints: { ...dialect.hints, limits: [] } };
}

function urlFor(baseUrl: string, model: string, own: JsonObject): string {
  const version = versionIn(own);
  if (/\/models$/.test(baseUrl)) {
    return `${baseUrl}/chat/completions?api-version=${version ?? foundryVersion}`;
  }
  const resource = baseUrl.replace(/\/openai(\/v1)?$/, '');
  if (version === null) return `${resource}/openai/v1/chat/completions`;
  const deployment = encodeURIComponent(deploymentOf(model, own));
  return `${resource}/openai/deployments/${deployment}/chat/completions?api-version=${version}`;
}

const name = z
  .string({ error: 'must be the name of a deployment' })
  .regex(/^[\w.-]{1,64}$/, 'must be the name of a deployment');

export const azureOpenaiKind = chatKind({
  ...auth,
  name: 'azure-openai',
  // Every resource has a host of its own.
  baseUrl: null,
  keyVariable: 'AZURE_OPENAI_API_KEY',
  isKeyRequired: true,
  quirks,
  upstreamOf,
  urlFor: ({ baseUrl, model, own }) => urlFor(baseUrl, model, own),
  nameOf: deploymentOf,
  modelFacts: openaiModelFacts,
  configShape: {
    api_version: z
      .string({ error: 'must be a version such as 2024-10-21' })
      .regex(/^\d{4}-\d{2}-\d{2}(-preview)?$/, 'must be a version such as 2024-10-21')
      .nullable()
      .default(null),
    auth: authField,
    deployments: z
      .record(z.string().regex(/^[\x21-\x7e]{1,200}$/, "must be a model's name"), name, {
        error: 'must be a mapping of models to deployments',
      })
      .default({}),
  },
});
