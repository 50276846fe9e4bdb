/** Secrets are named, never written: `env:NAME` or `file:/path`, read at the time of use. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { parseJson } from '../base/json.ts';

export type SecretReference =
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

/** The secret behind `reference`, or null when it does not resolve. The value is never kept by callers. */
export type SecretResolver = (reference: string) => string | null;

export const secretReferencePattern =
  /^(env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:\/[^\0\r\n]{1,1023})$/;

const secretBytesMax = 16_384;
const cachedFilesMax = 256;

/** Null when `text` is no reference. */
export function parseSecretReference(text: string): SecretReference | null {
  if (!secretReferencePattern.test(text)) return null;
  return text.startsWith('env:')
    ? { kind: 'env', name: text.slice(4) }
    : { kind: 'file', path: text.slice(5) };
}

/** What a key is called in rows and status: the reference's name, without `env:` or `file:`. */
export function secretAlias(reference: string): string {
  return reference.replace(/^(env|file):/, '');
}

/**
 * Reads variables from `environment` on every call, files at most once in `cacheMs` (5 s), so that a
 * rotated file is used without a restart. What is empty or cannot stand in a header resolves to null.
 */
export function createSecretResolver(input: {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly cacheMs?: number;
}): SecretResolver {
  const cacheMs = input.cacheMs ?? 5_000;
  const files = new Map<string, { readonly value: string | null; readonly readAtMs: number }>();
  const fromFile = (path: string): string | null => {
    const nowMs = input.clock.monotonicMs();
    const cached = files.get(path);
    if (cached !== undefined && nowMs - cached.readAtMs < cacheMs) return cached.value;
    const value = readSecretFile(path);
    if (files.size >= cachedFilesMax) files.clear();
    files.set(path, { value, readAtMs: nowMs });
    return value;
  };
  return (reference) => {
    const parsed = parseSecretReference(reference);
    if (parsed === null) return null;
    return parsed.kind === 'env'
      ? usable(
          Object.hasOwn(input.environment, parsed.name) ? input.environment[parsed.name] : null,
        )
      : fromFile(parsed.path);
  };
}

function readSecretFile(path: string): string | null {
  try {
    // A pipe would block the whole process until someone writes to it.
    if (!statSync(path).isFile()) return null;
    const descriptor = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(secretBytesMax + 1);
      const length = readSync(descriptor, bytes, 0, bytes.length, 0);
      return length > secretBytesMax ? null : usable(bytes.toString('utf8', 0, length));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}

/**
 * A header takes printable ASCII only; anything else would fail at the first request, or split it. A
 * JSON document, which some credentials are, is read as one line.
 */
function usable(value: string | null | undefined): string | null {
  const trimmed = oneLine(value?.trim() ?? '');
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(trimmed) ? trimmed : null;
}

function oneLine(text: string): string {
  if (!text.startsWith('{') || !text.includes('\n')) return text;
  const parsed = parseJson(text);
  return parsed.ok ? JSON.stringify(parsed.value) : text;
}
