/** Bodies of generateContent clients, decoded: what the tests of requests share. */
import type { ChatRequest, Message } from '../../../../src/chat/request.ts';
import type { RequestFault } from '../../../../src/dialects/dialect.ts';
import { geminiClient } from '../../../../src/dialects/gemini/client.ts';

export const hi = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

export function decode(body: unknown, call = 'fast:generateContent', alt?: string) {
  const form = geminiClient.pathCalls?.dialectFor(call, (name) =>
    name === 'alt' ? alt : undefined,
  );
  if (form === null || form === undefined) throw new Error('no call');
  return form.decodeRequest(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
}

export function requestOf(body: unknown, call?: string): ChatRequest {
  const decoded = decode(body, call);
  if (!decoded.ok) throw new Error(`${decoded.fault.param}: ${decoded.fault.message}`);
  return decoded.value.request;
}

export function faultOf(body: unknown): RequestFault {
  const decoded = decode(body);
  if (decoded.ok) throw new Error('decoded');
  return decoded.fault;
}

/** Plain values, every text that was put off read. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

export function messagesOf(...contents: readonly unknown[]): readonly Message[] {
  return plain(requestOf({ contents }).messages) as readonly Message[];
}
