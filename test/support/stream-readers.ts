/** A stream as a client of each form reads it, strictly: what it says, how it ends. */
import type { JsonObject } from '../../src/base/json.ts';
import { readGeminiArray, readGeminiStream } from './gemini-answers.ts';
import { readMessagesStream } from './messages-stream.ts';
import { readChatStream } from './running-gateway.ts';
import type { ClientForm } from './virtual-gateway.ts';

export type StreamSaid = {
  readonly text: string;
  /** It ended as streams of the form end; neither with an error nor just so. */
  readonly isComplete: boolean;
  readonly error: JsonObject | null;
};

/** Throws where the stream breaks its form. */
export async function readStream(form: ClientForm, raw: string): Promise<StreamSaid> {
  switch (form) {
    case 'chat': {
      const read = await readChatStream(new Response(raw));
      const isComplete = read.isDone && read.error === null && read.finishReasons.length === 1;
      return { text: read.text, isComplete, error: read.error };
    }
    case 'messages': {
      const read = readMessagesStream(raw);
      if (read.error === null && read.faults.length > 0) throw new Error(read.faults.join('; '));
      const text = read.content.map((block) => String(block['text'] ?? '')).join('');
      return { text, isComplete: read.stopReason !== null, error: read.error as JsonObject | null };
    }
    case 'gemini':
    case 'gemini array': {
      const isArray = form === 'gemini array';
      const read = isArray ? readGeminiArray(raw) : readGeminiStream(withoutBlankLines(raw));
      const isComplete = read.error === null && read.finishReasons.length > 0;
      return { text: read.text, isComplete, error: read.error as JsonObject | null };
    }
  }
}

/** Blank lines beyond the one that ends an event end nothing; any other line is data, or an SDK fails on it. */
function withoutBlankLines(raw: string): string {
  const odd = raw.split('\r\n').find((line) => line !== '' && !line.startsWith('data: '));
  if (odd !== undefined) throw new Error(`a line that is no data: ${odd}`);
  return raw.replace(/^(\r\n)+/, '').replace(/\r\n\r\n(\r\n)+/g, '\r\n\r\n');
}
