/** Where servers that speak like OpenAI put an error, under whatever status: told apart from an answer, and read. */
import { isJsonObject, type JsonObject, numberAt, property, stringAt } from '../base/json.ts';

/** The innermost object or text that describes the error, with the document around it. */
export type FoundError = { readonly error: unknown; readonly document: JsonObject | null };

/** Whether `body` is an error in place of an answer. `choices` beside it are looked at by the caller. */
export function isErrorDocument(body: unknown): boolean {
  if (Array.isArray(body)) return isErrorDocument(body[0]);
  if (!isJsonObject(body)) return false;
  if (isFilled(body['error']) || body['object'] === 'error') return true;
  if (Object.hasOwn(body, 'choices')) return false;
  return typeof body['message'] === 'string' || isFilled(body['detail']);
}

/** Some servers send `error: null` or `{}` with every answer. */
export function isFilled(error: unknown): boolean {
  if (typeof error === 'string') return error !== '';
  if (Array.isArray(error)) return error.length > 0;
  return isJsonObject(error) && Object.keys(error).length > 0;
}

/**
 * `{error: {...}}`, `{error: "text"}`, `{object: "error", message}`, `{message}`, `{message: {detail}}`,
 * `{detail: text | [{msg, loc}]}`, an array around any of them.
 */
export function findError(body: unknown): FoundError {
  if (Array.isArray(body)) return findError(body[0]);
  if (!isJsonObject(body)) return { error: body, document: null };
  const { error } = body;
  return { error: isFilled(error) ? error : body, document: body };
}

const messageCharactersMax = 8_000;

/** What the provider says for people; '' when it says nothing. */
export function messageOf({ error, document }: FoundError): string {
  return (firstText(error) ?? firstText(document) ?? '').slice(0, messageCharactersMax);
}

function firstText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return null;
  const { message, detail } = value;
  if (typeof message === 'string') return message;
  if (isJsonObject(message)) return firstText(message);
  if (typeof detail === 'string') return detail;
  if (Array.isArray(detail)) return detail.slice(0, 10).map(detailText).join('; ');
  return isJsonObject(detail) ? firstText(detail) : null;
}

/** `{loc: ["body", "messages"], msg, type}`: how a validator of these servers lists what is wrong. */
function detailText(item: unknown): string {
  const text = stringAt(item, 'msg') ?? firstText(item) ?? '';
  const place = property(item, 'loc');
  if (!Array.isArray(place)) return text;
  const steps = place.filter((step) => typeof step === 'string' || typeof step === 'number');
  return `${steps.join('.')}: ${text}`;
}

/** The HTTP status that an error inside a 200 states of itself, or null. */
export function statedStatus({ error, document }: FoundError): number | null {
  for (const source of [error, document]) {
    for (const name of ['status_code', 'status', 'raw_status_code', 'code']) {
      const status = statusNumber(property(source, name));
      if (status !== null) return status;
    }
  }
  return null;
}

function statusNumber(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return null;
  return number >= 400 && number <= 599 ? number : null;
}

/** A machine word, which may be written as a number. */
export function wordAt(value: unknown, name: string): string | null {
  const word = stringAt(value, name);
  if (word !== null) return word === '' ? null : word;
  const number = numberAt(value, name);
  return number === null ? null : String(number);
}
