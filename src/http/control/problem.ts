/** Errors of the control plane: RFC 9457 problem details. */
import { STATUS_CODES } from 'node:http';
import type { ConfigFault } from '../../admin/tier-admin.ts';

export type Problem = {
  readonly status: number;
  /** What is wrong and what to do. */
  readonly detail: string;
  readonly errors?: readonly ConfigFault[];
  readonly headers?: Readonly<Record<string, string>>;
};

export function problemResponse(problem: Problem): Response {
  const { status, detail, errors, headers } = problem;
  const title = STATUS_CODES[status] ?? 'Error';
  const body = {
    type: 'about:blank',
    title,
    status,
    detail,
    ...(errors === undefined ? {} : { errors }),
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}
