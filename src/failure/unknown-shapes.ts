/** Counts error answers whose shape no dialect knows, so that a new one is seen before it costs much. */
import { isJsonObject } from '../base/json.ts';

const shapesMax = 100;
const keysMax = 6;
const otherShapes = 'other shapes';

export class UnknownShapes {
  readonly #counts = new Map<string, number>();

  count(status: number | null, body: unknown): void {
    const shape = shapeOf(status, body);
    const isNew = !this.#counts.has(shape);
    const key = isNew && this.#counts.size >= shapesMax ? otherShapes : shape;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** How often each shape came; at most 101 shapes, the last of them `other shapes`. */
  entries(): ReadonlyMap<string, number> {
    return new Map(this.#counts);
  }
}

/** The status and the names of the outer keys: never a value, which may hold anything. */
function shapeOf(status: number | null, body: unknown): string {
  return `${status ?? 'no status'} ${kindOf(body)}`;
}

function kindOf(body: unknown): string {
  if (Array.isArray(body)) return 'array';
  if (typeof body === 'string') return textKind(body);
  if (!isJsonObject(body)) return body === null ? 'null' : typeof body;
  const keys = Object.keys(body).filter((key) => /^[A-Za-z][\w.-]{0,31}$/.test(key));
  return `{${keys.sort().slice(0, keysMax).join(',')}}`;
}

function textKind(text: string): string {
  if (text.trim() === '') return 'empty';
  return isHtml(text) ? 'html' : 'text';
}

/** Whether a body is a page for people: what a proxy or a network edge answers with. */
export function isHtml(body: unknown): boolean {
  return typeof body === 'string' && /^\s{0,100}<(?:!doctype|html|head|body|!--|\?xml)/i.test(body);
}
