/** What is wrong with a document and where; never what the value was, which may be a secret. */

import { looksLikeSecret } from '../../providers/secret-forms.ts';

/** `path` is written `tiers.fast.targets[1].provider`; '' is the whole document. */
export type ConfigFault = { readonly path: string; readonly message: string };

/** Why a document was refused: every fault, and what would have been warned about besides. */
export type InvalidDocument = {
  readonly faults: readonly ConfigFault[];
  readonly warnings: readonly ConfigFault[];
};

const segmentLengthMax = 64;

/** Joins object keys and array indexes; odd keys are quoted, long ones cut, secret ones withheld. */
export function formatPath(segments: readonly PropertyKey[]): string {
  let path = '';
  for (const segment of segments) {
    if (typeof segment === 'number') path += `[${segment}]`;
    else {
      const key = safeName(String(segment));
      if (!/^[\w.*/:@+-]+$/.test(key)) path += `[${JSON.stringify(key)}]`;
      else path += path === '' ? key : `.${key}`;
    }
  }
  return path;
}

/** A name from the document that may stand in a message. */
export function safeName(name: string): string {
  if (looksLikeSecret(name)) return '(withheld: looks like a key)';
  return name.length > segmentLengthMax ? `${name.slice(0, segmentLengthMax)}...` : name;
}

/** `; did you mean X?`, or nothing. */
export function suggestion(meant: string | null): string {
  return meant === null ? '' : `; did you mean ${meant}?`;
}
