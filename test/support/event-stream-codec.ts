/** Messages of an AWS event stream as the vendor's own library writes and reads them: the oracle of ours. */
import { EventStreamCodec, type MessageHeaders } from '@smithy/core/event-streams';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

export function encodeMessage(headers: MessageHeaders, payload: Buffer | string): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload) : payload;
  return Buffer.from(codec.encode({ headers, body }));
}

/** Null where the library takes `bytes` for no message. */
export function decodeMessage(
  bytes: Buffer,
): { readonly headers: MessageHeaders; readonly body: Uint8Array } | null {
  try {
    return codec.decode(bytes);
  } catch {
    return null;
  }
}

/** An event as the service frames it. */
export function encodeEvent(type: string, payload: unknown): Buffer {
  return encodeMessage(
    {
      ':message-type': { type: 'string', value: 'event' },
      ':event-type': { type: 'string', value: type },
      ':content-type': { type: 'string', value: 'application/json' },
    },
    JSON.stringify(payload),
  );
}

/** An exception in mid-stream as the service frames it. */
export function encodeException(type: string, payload: unknown): Buffer {
  return encodeMessage(
    {
      ':message-type': { type: 'string', value: 'exception' },
      ':exception-type': { type: 'string', value: type },
      ':content-type': { type: 'string', value: 'application/json' },
    },
    JSON.stringify(payload),
  );
}
