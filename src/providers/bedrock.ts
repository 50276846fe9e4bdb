/** Amazon Bedrock's Converse API. Model facts: docs.aws.amazon.com, Bedrock model pages, November 2026. */
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { type JsonObject, objectAt, stringAt } from '../base/json.ts';
import { fail, success } from '../base/result.ts';
import { unresolvedSecret } from '../failure/attempt-failures.ts';
import { anthropicKind } from './anthropic.ts';
import { type AwsCredentials, clockSkewMs, signatureHeaders } from './aws-signature.ts';
import type { CredentialsOf } from './credential.ts';
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';
import type { ProviderKind } from './provider-kind.ts';
import { type SecretResolver, secretAlias, secretReferencePattern } from './secrets.ts';

const novaModel = (contextWindow: number, maxOutputTokens: number): ModelFacts => ({
  contextWindow,
  maxOutputTokens,
  isReasoningModel: false,
  acceptsPrefill: false,
  supports: { audio: false, logprobs: false, n: false },
});

const models: ModelTable = {
  'amazon.nova-micro': {
    ...novaModel(128_000, 10_000),
    supports: { audio: false, documents: false, images: false, logprobs: false, n: false },
  },
  'amazon.nova-lite': novaModel(300_000, 10_000),
  'amazon.nova-pro': novaModel(300_000, 10_000),
  'amazon.nova-premier': novaModel(1_000_000, 10_000),
  'amazon.nova-2-lite': novaModel(1_000_000, 65_535),
};

/** Nothing that is served here has log probabilities or several answers. */
const otherModel: ModelFacts = { ...unknownModel, supports: { logprobs: false, n: false } };

/** `us.amazon.nova-lite-v1:0`, or the same at the end of an ARN, without region, version and path. */
function bareModel(model: string): string {
  return (model.split('/').at(-1) ?? model)
    .replace(/^(us|us-gov|eu|apac|jp|au|ca|global)\./, '')
    .replace(/(-v\d+)?(:\d+\w*)*$/, '');
}

function modelFacts(model: string): ModelFacts {
  const bare = bareModel(model);
  const claude = /^anthropic\.(claude-.+)$/.exec(bare)?.[1];
  if (claude !== undefined) return anthropicKind.modelFacts(claude);
  const known = factsOf(models, bare);
  if (known !== null) return known;
  return /^[a-z0-9-]+\.[a-z0-9]/.test(bare) ? otherModel : unknownModel;
}

const secretReference = z
  .string({ error: 'must name a secret: env:NAME or file:/path' })
  .regex(secretReferencePattern, 'must name a secret: env:NAME or file:/path');

const region = z
  .string({ error: 'must be an AWS region, such as us-east-1' })
  .regex(/^[a-z]{2,4}(-[a-z]{2,12}){1,3}-\d{1,2}$/, 'must be an AWS region, such as us-east-1');

const credentialNames = ['access_key_id', 'secret_access_key', 'session_token'] as const;

const credentials = z.strictObject(
  {
    access_key_id: secretReference,
    secret_access_key: secretReference,
    session_token: secretReference.nullable().default(null),
  },
  { error: `must be a mapping of ${credentialNames.join(', ')} to env:NAME or file:/path` },
);

/** One credential of three secrets, called by the name of its access key. */
const credentialsOf: CredentialsOf = ({ own, resolveSecret, clock }) => {
  const named = objectAt(own, 'credentials');
  const accessKeyReference = stringAt(named, 'access_key_id');
  if (named === null || accessKeyReference === null) return [];
  // The service's clock against ours, once it has refused a signature for its time.
  let aheadMs = 0;
  const signingClock: Clock = { ...clock, wallMs: () => clock.wallMs() + aheadMs };
  return [
    {
      alias: secretAlias(accessKeyReference),
      resolve: () => {
        const read = readCredentials(named, resolveSecret);
        return typeof read === 'string' ? null : read.accessKeyId;
      },
      authorize: async (request) => {
        const read = readCredentials(named, resolveSecret);
        if (typeof read === 'string') return fail(unresolvedSecret(read));
        return success(
          await signatureHeaders(request, {
            credentials: read,
            region: regionOf(own),
            service: 'bedrock',
            clock: signingClock,
          }),
        );
      },
      renew: (proof, { headers }) => {
        const ahead = clockSkewMs(proof, headers['date'], clock.wallMs());
        aheadMs = ahead ?? aheadMs;
        return ahead !== null;
      },
    },
  ];
};

/** The alias of the first that does not resolve in their place. */
function readCredentials(
  named: JsonObject,
  resolveSecret: SecretResolver,
): AwsCredentials | string {
  const values = new Map<string, string>();
  for (const name of credentialNames) {
    const reference = stringAt(named, name);
    if (reference === null) continue;
    const value = resolveSecret(reference);
    if (value === null) return secretAlias(reference);
    values.set(name, value);
  }
  return {
    accessKeyId: values.get('access_key_id') ?? '',
    secretAccessKey: values.get('secret_access_key') ?? '',
    sessionToken: values.get('session_token') ?? null,
  };
}

function regionOf(own: JsonObject): string {
  return stringAt(own, 'region') ?? '';
}

export const bedrockKind: ProviderKind = {
  name: 'bedrock',
  dialect: 'bedrock-converse',
  baseUrl: null,
  baseUrlOf: (own) => {
    const domain = regionOf(own).startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    return `https://bedrock-runtime.${regionOf(own)}.${domain}`;
  },
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  isKeyRequired: true,
  // A Bedrock API key; `credentials` sign instead.
  authHeader: 'authorization',
  authValue: (secret) => `Bearer ${secret}`,
  credentialsOf,
  fixedHeaders: {},
  passedHeaders: [],
  takesIdempotencyKey: false,
  // A model may be an ARN: it is one segment of the path all the same.
  urlFor: ({ baseUrl, model, isStream }) =>
    `${baseUrl}/model/${encodeURIComponent(model)}/${isStream ? 'converse-stream' : 'converse'}`,
  modelFacts,
  configShape: { region, credentials: credentials.nullable().default(null) },
  defaultTargets: null,
};
