/** The body of a control-plane request: a document, JSON or YAML by `content-type`, or plain JSON. */
import type { ConfigFault } from '../../admin/tier-admin.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { parseDocument } from '../../routing/parse-document.ts';
import { readBody } from '../data/body-reader.ts';
import type { EdgeContext } from '../edge-context.ts';
import type { Problem } from './problem.ts';

type DocumentFormat = 'json' | 'yaml';

const documentBytesMax = 4 * 1024 * 1024;

const formats: Readonly<Record<string, DocumentFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
  'text/x-yaml': 'yaml',
};

/** What `curl -d` and `fetch` say of a string whose type nobody named. */
const unnamedTypes: readonly string[] = ['', 'application/x-www-form-urlencoded', 'text/plain'];

export async function readDocument(c: EdgeContext): Promise<Result<JsonObject, Problem>> {
  const type = typeOf(c);
  const format = Object.hasOwn(formats, type) ? formats[type] : undefined;
  if (format === undefined && !unnamedTypes.includes(type)) {
    return fail({
      status: 415,
      detail: 'Send the document as application/json or application/yaml.',
    });
  }
  const body = await readBytes(c);
  return body.ok ? parse(body.value, format ?? guessFormat(body.value)) : body;
}

/** A body that is no document: JSON alone, kept as it came. */
export async function readJsonObject(c: EdgeContext): Promise<Result<JsonObject, Problem>> {
  const type = typeOf(c);
  if (formats[type] !== 'json' && !unnamedTypes.includes(type)) {
    return fail({ status: 415, detail: 'Send the body as application/json.' });
  }
  const body = await readBytes(c);
  if (!body.ok) return body;
  const parsed = parseJson(body.value.toString());
  if (!parsed.ok) return unreadable([{ path: '', message: parsed.fault }]);
  if (isJsonObject(parsed.value)) return success(parsed.value);
  return unreadable([{ path: '', message: 'the body must be an object' }]);
}

function typeOf(c: EdgeContext): string {
  return (c.req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

async function readBytes(c: EdgeContext): Promise<Result<Buffer, Problem>> {
  const body = await readBody(c.env.incoming, c.env.outgoing, documentBytesMax);
  if (body.ok) return body;
  return body.fault === 'encoded'
    ? fail({ status: 415, detail: 'Send the body uncompressed.' })
    : fail({ status: 413, detail: `The body is larger than ${documentBytesMax} bytes.` });
}

function parse(body: Buffer, format: DocumentFormat): Result<JsonObject, Problem> {
  // JSON is read as JSON: the YAML reader would take what JSON's own grammar refuses.
  const json = format === 'json' ? parseJson(body.toString()) : null;
  if (json?.ok === false) return unreadable([{ path: '', message: json.fault }]);
  const { value, faults } = parseDocument(body);
  if (faults.length > 0) return unreadable(faults);
  if (isJsonObject(value)) return success(value);
  return unreadable([{ path: '', message: 'the document must be an object' }]);
}

function unreadable(errors: readonly ConfigFault[]): Result<JsonObject, Problem> {
  return fail({ status: 400, detail: 'The body cannot be read.', errors });
}

function guessFormat(body: Buffer): DocumentFormat {
  return /^\s*[{[]/.test(body.toString('latin1', 0, 64)) ? 'json' : 'yaml';
}
