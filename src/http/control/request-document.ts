/** The document in a control-plane request's body, JSON or YAML by `content-type`. */
import { type DocumentFormat, parseDocumentText } from '../../admin/document-text.ts';
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result } from '../../base/result.ts';
import { readBody } from '../data/body-reader.ts';
import type { EdgeContext } from '../edge-context.ts';
import type { Problem } from './problem.ts';

const documentBytesMax = 4 * 1024 * 1024;

const formats: Readonly<Record<string, DocumentFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
  'text/x-yaml': 'yaml',
};

export async function readDocument(c: EdgeContext): Promise<Result<JsonObject, Problem>> {
  const type = (c.req.header('content-type') ?? 'application/json').split(';')[0] ?? '';
  const format = Object.hasOwn(formats, type.trim().toLowerCase())
    ? formats[type.trim().toLowerCase()]
    : undefined;
  // `curl -d` names a form; what it sends is what the user typed, and it is JSON or nothing.
  const isForm = type.trim().toLowerCase() === 'application/x-www-form-urlencoded';
  if (format === undefined && !isForm) {
    return fail({
      status: 415,
      detail: 'Send the document as application/json or application/yaml.',
    });
  }
  const body = await readBody(c.env.incoming, c.env.outgoing, documentBytesMax);
  if (!body.ok) {
    if (body.fault === 'encoded')
      return fail({ status: 415, detail: 'Send the body uncompressed.' });
    return fail({ status: 413, detail: `The document is larger than ${documentBytesMax} bytes.` });
  }
  const parsed = parseDocumentText(body.value, format ?? 'json');
  if (parsed.ok) return parsed;
  return fail({
    status: 400,
    detail: `The document cannot be read: ${parsed.fault}.`,
    errors: [{ path: '', message: parsed.fault }],
  });
}
