/** Bytes or links in a client's body, read when they are asked for. */
import type { MediaSource, TextPart } from '../chat/request.ts';
import { type DeferredTexts, readText, type Text, textIn } from './deferred-texts.ts';

const headBytes = 200;

/** `data:image/png;base64,AAAA` as its bytes, any other text as a link; null when there is none. */
export function mediaSourceIn(value: unknown, texts: DeferredTexts | null): MediaSource | null {
  const text = textIn(value, texts);
  if (text === null || text === '') return null;
  const head = typeof text === 'string' ? text.slice(0, headBytes) : headOf(value, texts);
  const form = /^data:([^;,"\\]+)(?:;[^,"\\]*)?;base64,/i.exec(head);
  if (form?.[1] === undefined) return { kind: 'url', url: readText(text) };
  const dataAt = form[0].length;
  return base64Source(form[1], () => readText(text).slice(dataAt));
}

function headOf(value: unknown, texts: DeferredTexts | null): string {
  return texts?.headOf(value, headBytes) ?? '';
}

/** `read` is asked each time for the bytes, in base64. */
export function base64Source(mediaType: string, read: () => string): MediaSource {
  return {
    kind: 'base64',
    mediaType: plainMediaType(mediaType),
    get data() {
      return read();
    },
  };
}

/** Names that clients use and no register knows. */
const misnamed: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['application/x-pdf', 'application/pdf'],
]);

/** A type is the same in any case and with any parameters. */
function plainMediaType(mediaType: string): string {
  const plain = mediaType.replace(/;.*/s, '').trim().toLowerCase();
  return misnamed.get(plain) ?? plain;
}

export function deferredTextPart(text: Text): TextPart {
  if (typeof text === 'string') return { type: 'text', text };
  return {
    type: 'text',
    get text() {
      return text();
    },
  };
}
