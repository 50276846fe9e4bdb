/** `/admin/v1/explain` and `/admin/v1/classify`: what would happen, asked without anything happening. */
import type { Hono } from 'hono';
import type { ClassifyError } from '../../admin/classify-error.ts';
import type { ExplainRequest, ExplainResult } from '../../admin/explain-request.ts';
import { unreachable } from '../../base/unreachable.ts';
import { blankCredentials } from '../credentials.ts';
import { readBody } from '../data/body-reader.ts';
import type { EdgeContext, EdgeEnvironment } from '../edge-context.ts';
import { problemResponse } from './problem.ts';
import { unknownParameters } from './query-parameters.ts';
import { readJsonObject } from './request-document.ts';

export type Questions = {
  readonly explain: ExplainRequest;
  readonly classify: ClassifyError;
  /** What a body of the data plane may have. */
  readonly bodyBytesMax: () => number;
};

export function mountQuestionRoutes(app: Hono<EdgeEnvironment>, questions: Questions): void {
  app.post('/explain', (c) => explain(c, questions));
  app.post('/classify', (c) => classify(c, questions));
}

async function explain(c: EdgeContext, questions: Questions): Promise<Response> {
  const refused = unknownParameters(c, ['protocol', 'tier']);
  if (refused !== null) return problemResponse(refused);
  const bytesMax = questions.bodyBytesMax();
  const body = await readBody(c.env.incoming, c.env.outgoing, bytesMax);
  if (!body.ok) {
    return body.fault === 'encoded'
      ? problemResponse({ status: 415, detail: 'Send the body uncompressed.' })
      : problemResponse({ status: 413, detail: `The body is larger than ${bytesMax} bytes.` });
  }
  blankCredentials(c.env.incoming.headers);
  const result = questions.explain({
    protocol: c.req.query('protocol') ?? null,
    tier: c.req.query('tier') ?? null,
    // Node joins repeated headers; only `set-cookie`, which no client sends, would be a list.
    headers: c.env.incoming.headers as Readonly<Record<string, string | undefined>>,
    body: body.value,
  });
  return explained(c, result);
}

function explained(c: EdgeContext, result: ExplainResult): Response {
  switch (result.kind) {
    case 'explained':
      return c.json(result.explanation);
    case 'rejected': {
      const { status, message, param } = result.rejection;
      const errors = [{ path: param ?? '', message }];
      return problemResponse({
        status,
        detail: `The request would be refused: ${message}.`,
        errors,
      });
    }
    case 'unknown_protocol': {
      const message = `no client protocol of this gateway; known are ${result.known.join(', ')}`;
      const errors = [{ path: 'protocol', message }];
      return problemResponse({ status: 400, detail: 'A query parameter is wrong.', errors });
    }
    default:
      return unreachable(result);
  }
}

async function classify(c: EdgeContext, questions: Questions): Promise<Response> {
  const refused = unknownParameters(c, []);
  if (refused !== null) return problemResponse(refused);
  const body = await readJsonObject(c);
  if (!body.ok) return problemResponse(body.fault);
  const verdict = questions.classify(body.value);
  if (verdict.ok) return c.json(verdict.value);
  return problemResponse({
    status: 400,
    detail: 'The error cannot be classified as it is described.',
    errors: verdict.fault,
  });
}
