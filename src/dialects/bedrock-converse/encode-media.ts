/** What a user or a tool said: text, images and documents as blocks. */
import type {
  CacheMarked,
  DocumentPart,
  ImagePart,
  TextPart,
  UserPart,
} from '../../chat/request.ts';
import { cachePoints } from './cache-points.ts';
import type { DocumentNames } from './document-names.ts';
import type { ModelTraits } from './model-traits.ts';
import {
  documentFormatOf,
  imageFormats,
  type WireCachePoint,
  type WireDocument,
  type WireImage,
  type WireMedia,
} from './wire.ts';

/** Of one request. */
export type MediaContext = {
  readonly traits: ModelTraits;
  readonly names: DocumentNames;
  readonly dropped: Set<string>;
};

/** Without blank text, which is refused. */
export function mediaBlocks(
  parts: readonly UserPart[],
  context: MediaContext,
): readonly (WireMedia | WireCachePoint)[] {
  return parts.flatMap((part) => blocksOf(part, context));
}

function blocksOf(part: UserPart, context: MediaContext): readonly (WireMedia | WireCachePoint)[] {
  switch (part.type) {
    case 'text':
      return textBlocks(part, context);
    case 'image':
      return marked(imageBlocks(part, context.dropped), part, context);
    case 'document':
      return marked(documentBlocks(part, context.names), part, context);
    case 'audio':
      context.dropped.add('audio');
      return [];
  }
}

/** A text, and behind it the cache mark that it carried. */
export function textBlocks(
  part: TextPart,
  context: MediaContext,
): readonly (WireMedia | WireCachePoint)[] {
  return part.text.trim() === '' ? [] : marked([{ text: part.text }], part, context);
}

/** What was left out takes its mark with it. */
function marked(
  blocks: readonly WireMedia[],
  part: UserPart & CacheMarked,
  context: MediaContext,
): readonly (WireMedia | WireCachePoint)[] {
  return blocks.length === 0 ? [] : [...blocks, ...cachePoints(part, context)];
}

function imageBlocks({ source, detail }: ImagePart, dropped: Set<string>): readonly WireImage[] {
  if (detail !== null && detail !== 'auto') dropped.add('detail');
  const format = source.kind === 'base64' ? imageFormats.get(source.mediaType) : undefined;
  if (source.kind !== 'base64' || format === undefined) {
    dropped.add('images');
    return [];
  }
  return [{ image: { format, source: { bytes: source.data } } }];
}

function documentBlocks(
  { source, filename }: DocumentPart,
  names: DocumentNames,
): readonly WireDocument[] {
  const format = source.kind === 'base64' ? documentFormatOf(source.mediaType) : null;
  if (source.kind !== 'base64' || format === null) return [];
  return [{ document: { format, name: names.next(filename), source: { bytes: source.data } } }];
}
