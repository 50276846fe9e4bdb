/** Bodies that come compressed although nobody asked: inflated, within a bound on how far they may grow. */
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { BodyQueue } from './body-queue.ts';

/** An upstream whose body inflates beyond this is not trusted. */
const inflatedBytesMax = 256 * 1024 * 1024;

export type ContentDecoder = { readonly write: (chunk: Buffer) => void; readonly end: () => void };

/** Null for an encoding that is absent, `identity` or unknown: the bytes pass as they are. */
export function decoderFor(encoding: string | undefined, sink: BodyQueue): ContentDecoder | null {
  const stream = streamFor(encoding);
  if (stream === null) return null;
  let inflatedBytes = 0;
  stream.on('data', (chunk: Buffer) => {
    inflatedBytes += chunk.length;
    if (inflatedBytes > inflatedBytesMax) stream.destroy(new Error('inflates without bound'));
    else sink.push(chunk);
  });
  stream.on('end', () => sink.end());
  stream.on('error', () =>
    sink.fail({
      kind: 'reset',
      isConnectTimeout: false,
      isStaleSocket: false,
      code: 'BAD_ENCODING',
    }),
  );
  return { write: (chunk) => stream.write(chunk), end: () => stream.end() };
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
