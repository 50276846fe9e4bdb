/** The shapes this dialect writes. What it reads is `unknown` until checked. */
import type { JsonObject } from '../../base/json.ts';

export const dialectName = 'gemini';

export type WirePart =
  | { readonly text: string }
  | { readonly inlineData: { readonly mimeType: string; readonly data: string } }
  | { readonly fileData: { readonly fileUri: string; readonly mimeType?: string } }
  | {
      readonly functionCall: {
        readonly name: string;
        readonly args: JsonObject;
        readonly id?: string;
      };
      readonly thoughtSignature?: string;
    }
  | {
      readonly functionResponse: {
        readonly name: string;
        readonly response: JsonObject;
        readonly id?: string;
      };
    };

export type WireContent = {
  readonly role: 'user' | 'model';
  readonly parts: readonly WirePart[];
};

export type WireDeclaration = {
  readonly name: string;
  readonly description: string;
  /** The service's own subset of a schema; every model and version of the API takes it. */
  readonly parameters?: JsonObject;
  /** JSON Schema proper; never beside `parameters`. */
  readonly parametersJsonSchema?: JsonObject;
};

/** Image types that the service reads. */
export const imageMediaTypes: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/heic',
  'image/heif',
];

/** Sound formats that the service reads, as the subtype of `audio/`. */
export const audioFormats: readonly string[] = ['wav', 'mp3', 'aiff', 'aac', 'ogg', 'flac'];

/** Whether the service itself fetches what lies at `url`: its own file store, or a bucket. */
export function isOwnFile(url: string): boolean {
  return url.startsWith('gs://') || isStoredFile(url);
}

export function isStoredFile(url: string): boolean {
  return /^https:\/\/generativelanguage\.googleapis\.com\/v[^/]+\/files\//.test(url);
}
