/** What both kinds of models on Vertex AI have in common: the project, the place, the credentials. */
import { z } from 'zod';
import { type JsonObject, stringAt } from '../base/json.ts';
import { googleMachineKey, googleProof } from './google-proof.ts';
import { googleCredentialsFault } from './google-token.ts';
import type { ProviderKind } from './provider-kind.ts';

/** Hosts: cloud.google.com, Vertex AI locations, November 2026. */
function baseUrlOf(own: JsonObject): string {
  const location = stringAt(own, 'location') ?? 'global';
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  const isRegionGroup = location === 'us' || location === 'eu';
  return isRegionGroup
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`;
}

/** `method` with its colon. A model of one's own is named `endpoints/ID`. */
export function vertexUrl(input: {
  readonly baseUrl: string;
  readonly version: string;
  readonly publisher: string;
  readonly model: string;
  readonly method: string;
  readonly own: JsonObject;
}): string {
  const { baseUrl, version, publisher, model, method, own } = input;
  const root = /\/v1(beta1)?$/.test(baseUrl) ? baseUrl : `${baseUrl}/${version}`;
  const project = encodeURIComponent(stringAt(own, 'project') ?? '');
  const location = encodeURIComponent(stringAt(own, 'location') ?? 'global');
  const endpoint = /^endpoints\/([\w-]{1,64})$/.exec(model)?.[1];
  const place =
    endpoint === undefined
      ? `publishers/${publisher}/models/${encodeURIComponent(model)}`
      : `endpoints/${endpoint}`;
  return `${root}/projects/${project}/locations/${location}/${place}${method}`;
}

function isOnMachine(own: JsonObject): boolean {
  return own['machine_account'] === true;
}

export const vertexSurface = {
  // The host follows from the place.
  baseUrl: null,
  baseUrlOf,
  keyVariable: null,
  isKeyRequired: true,
  isKeyless: isOnMachine,
  authHeader: 'authorization',
  authValue: (secret) => `Bearer ${secret}`,
  proofOf: googleProof,
  keyFault: googleCredentialsFault,
  credentialsOf: ({ own, ...ports }) => (isOnMachine(own) ? [googleMachineKey(ports)] : []),
  takesIdempotencyKey: false,
  fixedHeaders: {},
  passedHeaders: [],
  configShape: {
    project: z
      .string({ error: "must be the project's id" })
      .regex(/^[a-z0-9][a-z0-9.:-]{2,62}$/, "must be the project's id"),
    location: z
      .string({ error: 'must be a location such as europe-west4' })
      .regex(/^[a-z0-9-]{2,40}$/, 'must be a location such as europe-west4')
      .default('global'),
    machine_account: z.boolean({ error: 'must be true or false' }).default(false),
  },
  defaultTargets: null,
} satisfies Partial<ProviderKind>;
