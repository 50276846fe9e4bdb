/** Looks at every value of a raw document before its meaning is asked: what may not be there at all. */
import { looksLikeSecret } from '../../providers/secret-forms.ts';
import { type ConfigFault, formatPath, safeName } from './config-fault.ts';

const depthMax = 32;
const nodesMax = 200_000;
const faultsMax = 100;
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);

export type Hygiene = {
  readonly faults: readonly ConfigFault[];
  /** False when the document cannot even be walked: nothing else may look at it. */
  readonly isWalkable: boolean;
};

type Place = { readonly value: unknown; readonly path: readonly PropertyKey[] };

/** Refuses keys that reach into prototypes, literal secrets, values that are no JSON, and bottomless nesting. */
export function inspectDocument(document: unknown): Hygiene {
  const faults: ConfigFault[] = [];
  const report = (path: readonly PropertyKey[], message: string): void => {
    if (faults.length < faultsMax) faults.push({ path: formatPath(path), message });
  };
  const waiting: Place[] = [{ value: document, path: [] }];
  let nodes = 0;
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    nodes += 1;
    const isTooDeep = place.path.length > depthMax;
    if (isTooDeep || nodes + waiting.length + sizeOf(place.value) > nodesMax) {
      report(place.path.slice(0, 8), isTooDeep ? 'is nested too deeply' : 'holds too many values');
      return { faults, isWalkable: false };
    }
    const message = scalarFault(place.value);
    if (message !== null) report(place.path, message);
    else if (typeof place.value === 'object' && place.value !== null) {
      // Last first: the last one pushed is the next one looked at.
      for (const [key, value] of membersOf(place.value).reverse()) {
        if (forbiddenKeys.has(String(key))) report(place.path, `the key ${key} is refused`);
        else {
          if (looksLikeSecret(String(key)))
            report(place.path, secretMessage('a key of this mapping'));
          waiting.push({ value, path: [...place.path, key] });
        }
      }
    }
  }
  return { faults, isWalkable: true };
}

function membersOf(value: object): (readonly [string | number, unknown])[] {
  return Array.isArray(value) ? [...value.entries()] : Object.entries(value);
}

/** Known for a list without looking into it. */
function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function scalarFault(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return looksLikeSecret(value) ? secretMessage('the value') : null;
    case 'number':
      return Number.isFinite(value) ? null : 'must be a finite number';
    case 'object':
      return isPlain(value) ? null : 'must be a plain value';
    case 'boolean':
      return null;
    default:
      return `must be a plain value, not ${safeName(typeof value)}`;
  }
}

function isPlain(value: object | null): boolean {
  if (value === null || Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function secretMessage(what: string): string {
  return `${what} looks like a key: keep it in the environment and write env:NAME, or file:/path`;
}
