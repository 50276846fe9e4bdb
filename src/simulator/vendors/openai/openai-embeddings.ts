/** OpenAI's embeddings endpoint: its rules, and vectors that are the same for the same text. */
import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { estimateTokens } from '../../token-estimate.ts';
import { firstFault, type ReplyIdentity, type VendorFault } from '../vendor.ts';
import { refusal } from './openai-faults.ts';
import { unknownParameter } from './openai-messages.ts';
import { modelFault } from './openai-rules.ts';

const fields = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);
const inputsMax = 2048;
const dimensionsMax = 3072;
const usualDimensions = 1536;

/** The first complaint about an embeddings body, or null. */
export function embeddingsFault(body: unknown): VendorFault | null {
  if (!isJsonObject(body)) return refusal('We expect the body to be a JSON object.');
  const { input, dimensions, encoding_format: format } = body;
  const inputs = inputsOf(body);
  return firstFault([
    () => modelFault(body),
    () => {
      const unknown = Object.keys(body).find((name) => !fields.has(name));
      return unknown === undefined ? null : unknownParameter(unknown);
    },
    () => {
      const isTaken = input !== '' && inputs.length > 0 && inputs.length <= inputsMax;
      return isTaken && inputs.every(isInput) ? null : refusal(`'$.input' is invalid.`, 'input');
    },
    () => {
      if (format === undefined || format === 'float' || format === 'base64') return null;
      return refusal(`Invalid value for 'encoding_format'.`, 'encoding_format');
    },
    () => {
      if (dimensions === undefined || dimensionsOf(body) === dimensions) return null;
      return refusal(`Invalid value for 'dimensions'.`, 'dimensions');
    },
  ]);
}

function isInput(input: unknown): boolean {
  if (typeof input === 'string') return input !== '';
  return Array.isArray(input) && input.length > 0 && input.every(Number.isInteger);
}

/** One text, several texts, one text in tokens, or several of those. */
function inputsOf({ input }: JsonObject): readonly unknown[] {
  if (!Array.isArray(input)) return [input];
  return typeof input[0] === 'number' ? [input] : input;
}

function dimensionsOf({ dimensions }: JsonObject): number {
  if (typeof dimensions !== 'number' || !Number.isInteger(dimensions)) return usualDimensions;
  return Math.min(dimensionsMax, Math.max(1, dimensions));
}

export function openaiEmbeddings(body: JsonObject, { model }: ReplyIdentity): string {
  const inputs = inputsOf(body).map((input) =>
    typeof input === 'string' ? input : JSON.stringify(input),
  );
  const isPacked = body['encoding_format'] === 'base64';
  const vectors = inputs.map((input) => vectorOf(`${model} ${input}`, dimensionsOf(body)));
  const tokens = inputs.reduce((sum, input) => sum + estimateTokens(input), 0);
  return JSON.stringify({
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: isPacked ? packed(vector) : [...vector],
    })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

/** Of length 1. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  let block = Buffer.alloc(0);
  for (let at = 0; at < dimensions; at += 1) {
    if (at % 16 === 0) block = createHash('sha256').update(`${at} ${text}`).digest();
    vector[at] = block.readInt16LE((at % 16) * 2) / 32_768;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function packed(vector: Float32Array): string {
  return Buffer.from(vector.buffer).toString('base64');
}
