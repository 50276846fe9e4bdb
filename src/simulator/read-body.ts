/** Reads a request's body up to a bound. */
import type { IncomingMessage } from 'node:http';

export type BodyRead = Buffer | 'too_large' | 'gone';

/** `gone`: the peer left before the body was complete. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<BodyRead> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
      else {
        chunks.length = 0;
        request.removeAllListeners('data');
        request.pause();
        resolve('too_large');
      }
    });
    request.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)),
    );
    request.on('close', () => resolve('gone'));
    request.on('error', () => resolve('gone'));
  });
}
