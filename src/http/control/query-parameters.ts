/** Query parameters of the control plane: an unknown one is an error, never ignored. */
import { nearest } from '../../base/nearest.ts';
import type { EdgeContext } from '../edge-context.ts';
import type { Problem } from './problem.ts';

/** The problem when the URL has a parameter other than `known`. */
export function unknownParameters(c: EdgeContext, known: readonly string[]): Problem | null {
  const unknown = Object.keys(c.req.queries()).filter((name) => !known.includes(name));
  if (unknown.length === 0) return null;
  const errors = unknown.map((path) => {
    const near = nearest(path, known);
    return {
      path,
      message: near === null ? 'unknown query parameter' : `unknown; did you mean ${near}?`,
    };
  });
  return { status: 400, detail: 'A query parameter is unknown.', errors };
}
