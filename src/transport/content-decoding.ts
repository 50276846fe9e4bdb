/** Bodies that come compressed although nobody asked: inflated as far as they are read, within a bound on the whole. */
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { BodyQueue, BodySource } from './body-queue.ts';

/** An upstream whose body inflates beyond this is not trusted. */
const inflatedBytesMax = 256 * 1024 * 1024;

/** Paused, it inflates nothing more: a few compressed bytes may stand for very many. */
export type ContentDecoder = BodySource & {
  readonly write: (chunk: Buffer) => void;
  readonly end: () => void;
  /** Nothing more is wanted. */
  readonly close: () => void;
};

/**
 * Null for an encoding that is absent, `identity` or unknown: the bytes pass as they are. `source` is slowed down
 * to what is inflated; `onBroken`: it cannot be, and nothing more is taken from the source.
 */
export function decoderFor(
  encoding: string | undefined,
  sink: BodyQueue,
  source: BodySource,
  onBroken: () => void,
): ContentDecoder | null {
  const stream = streamFor(encoding);
  if (stream === null) return null;
  let inflatedBytes = 0;
  stream.on('data', (chunk: Buffer) => {
    inflatedBytes += chunk.length;
    if (inflatedBytes > inflatedBytesMax) stream.destroy(new Error('inflates without bound'));
    else sink.push(chunk);
  });
  stream.on('drain', () => source.resume());
  stream.on('end', () => sink.end());
  stream.on('error', () => {
    sink.fail({
      kind: 'reset',
      isConnectTimeout: false,
      isStaleSocket: false,
      code: 'BAD_ENCODING',
    });
    onBroken();
  });
  return {
    write: (chunk) => {
      if (!stream.destroyed && !stream.write(chunk)) source.pause();
    },
    end: () => stream.end(),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    close: () => stream.destroy(),
  };
}

function streamFor(encoding: string | undefined) {
  switch (encoding?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return null;
  }
}
