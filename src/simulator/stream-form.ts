/** How a vendor's streams leave: as events, as one JSON array that grows, or as binary messages. */
import type { Beat, Headers } from './reply-plan.ts';
import type { Vendor } from './vendors/vendor.ts';

export function streamHeaders(vendor: Vendor, isArray: boolean): Headers {
  const text = isArray ? 'application/json; charset=UTF-8' : 'text/event-stream; charset=utf-8';
  const contentType = vendor.binaryStreams?.contentType ?? text;
  return { 'content-type': contentType, 'cache-control': 'no-cache' };
}

/** The bytes of one frame. */
export function frameBytes(vendor: Vendor, frame: string): string | Buffer {
  return vendor.binaryStreams === undefined ? frame : Buffer.from(frame, 'latin1');
}

/** `beats` with their frames as the bytes that they stand for. */
export function* streamBeats(vendor: Vendor, beats: Iterable<Beat>): Iterable<Beat> {
  for (const beat of beats) {
    const isFrame = beat.kind === 'bytes' && typeof beat.bytes === 'string';
    yield isFrame ? { ...beat, bytes: frameBytes(vendor, String(beat.bytes)) } : beat;
  }
}
