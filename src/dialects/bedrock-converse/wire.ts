/** The shapes this dialect writes. What it reads is `unknown` until checked. */
import type { JsonObject } from '../../base/json.ts';

export const dialectName = 'bedrock-converse';

export type WireText = { readonly text: string };
export type WireCachePoint = {
  readonly cachePoint: { readonly type: 'default'; readonly ttl?: '1h' };
};
export type WireImage = {
  readonly image: { readonly format: string; readonly source: { readonly bytes: string } };
};
export type WireDocument = {
  readonly document: {
    readonly format: string;
    readonly name: string;
    readonly source: { readonly bytes: string };
  };
};
export type WireMedia = WireText | WireImage | WireDocument;

export type WireBlock =
  | WireMedia
  | WireCachePoint
  | {
      readonly reasoningContent:
        | { readonly reasoningText: { readonly text: string; readonly signature: string } }
        | { readonly redactedContent: string };
    }
  | {
      readonly toolUse: {
        readonly toolUseId: string;
        readonly name: string;
        readonly input: JsonObject;
      };
    }
  | {
      readonly toolResult: {
        readonly toolUseId: string;
        readonly content: readonly WireMedia[];
        readonly status?: 'success' | 'error';
      };
    };

export type WireMessage = {
  readonly role: 'user' | 'assistant';
  readonly content: readonly WireBlock[];
};

export type WireTool = {
  readonly toolSpec: {
    readonly name: string;
    readonly description?: string;
    readonly inputSchema: { readonly json: JsonObject };
    readonly strict?: true;
  };
};

/** The service's word for a type of image; no other is read. */
export const imageFormats: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);

const documentFormats: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
]);

/** The service's word for a type of document; any other text is plain. Null = it is not read. */
export function documentFormatOf(mediaType: string): string | null {
  const known = documentFormats.get(mediaType);
  if (known !== undefined) return known;
  return mediaType.startsWith('text/') ? 'txt' : null;
}
