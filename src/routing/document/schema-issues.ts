/** Zod's issues in our words: one fault a place, and no value in any message. */
import type { core } from 'zod';
import { type ConfigFault, formatPath } from './config-fault.ts';
import { keyMessageSeparator } from './fields.ts';

const faultsMax = 200;

/** `told`: places whose fault is known already; they and what lies beneath are left out. */
export function issueFaults(input: {
  readonly document: unknown;
  readonly issues: readonly core.$ZodIssue[];
  readonly told: ReadonlySet<string>;
}): readonly ConfigFault[] {
  const { document, told } = input;
  const faults: ConfigFault[] = [];
  for (const issue of input.issues) collect({ document, issue, above: [] }, faults);
  return faults.filter((fault) => !isTold(fault.path, told)).slice(0, faultsMax);
}

function collect(
  place: {
    readonly document: unknown;
    readonly issue: core.$ZodIssue;
    readonly above: readonly PropertyKey[];
  },
  faults: ConfigFault[],
): void {
  const { document, issue } = place;
  const path = [...place.above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split(keyMessageSeparator);
    for (const [index, key] of issue.keys.entries()) {
      faults.push({ path: formatPath([...path, key]), message: messages[index] ?? 'unknown key' });
    }
  } else if (issue.code === 'invalid_key') {
    const message = issue.issues[0]?.message ?? issue.message;
    faults.push({ path: formatPath(path), message });
  } else if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    for (const inner of likeliestBranch(issue.errors)) {
      collect({ document, issue: inner, above: path }, faults);
    }
  } else {
    const isMissing = issue.code === 'invalid_type' && !isPresent(document, path);
    faults.push({ path: formatPath(path), message: isMissing ? 'is required' : issue.message });
  }
}

/** The branch of a union that got furthest is the one that was meant. */
function likeliestBranch(
  branches: readonly (readonly core.$ZodIssue[])[],
): readonly core.$ZodIssue[] {
  const depth = (issues: readonly core.$ZodIssue[]): number =>
    Math.max(
      ...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)),
    );
  return branches.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best));
}

function isTold(path: string, told: ReadonlySet<string>): boolean {
  for (const place of told) {
    if (path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`)) return true;
  }
  return false;
}

function isPresent(document: unknown, path: readonly PropertyKey[]): boolean {
  let value: unknown = document;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return false;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[segment];
  }
  return value !== undefined;
}
