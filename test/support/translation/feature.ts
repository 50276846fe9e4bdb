/** One thing that a client's body can hold, tried on every dialect that a target may speak. */
import type { JsonObject } from '../../../src/base/json.ts';

export type Feature = {
  readonly name: string;
  /** Fields over the smallest body of its dialect. */
  readonly body: JsonObject;
  /** What shows in the other side's body that it was carried, in any of the dialects' words. */
  readonly shows: RegExp;
};

export type FeatureGroup = { readonly title: string; readonly features: readonly Feature[] };

export type DialectFeatures = {
  /** The smallest body that the dialect takes. */
  readonly base: JsonObject;
  readonly groups: readonly FeatureGroup[];
};

export const sampleSchema: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

/** One pixel. */
export const samplePng =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** `%PDF-1.4`, begun and no more: nobody here reads it. */
export const samplePdf = 'JVBERi0xLjQK';
