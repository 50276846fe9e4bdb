/** The rules that Converse holds single content blocks to. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../../base/json.ts';
import { base64Bytes, faultInEach, type VendorFault } from '../vendor.ts';
import { refusal } from './bedrock-faults.ts';
import { isReasoningSignature } from './bedrock-signature.ts';

const kindsByRole: { readonly [role: string]: readonly string[] } = {
  user: ['text', 'image', 'document', 'video', 'toolResult', 'cachePoint', 'guardContent'],
  assistant: ['text', 'toolUse', 'reasoningContent', 'cachePoint', 'citationsContent'],
  system: ['text', 'cachePoint', 'guardContent'],
  result: ['text', 'json', 'image', 'document', 'video'],
};

/** The one member that a block is; null when it is none or several. */
export function kindOf(block: unknown): string | null {
  const names = isJsonObject(block) ? Object.keys(block) : [];
  return names.length === 1 ? (names[0] ?? null) : null;
}

/** The first complaint about one block; `place` is where it stands in the body. */
export function blockFault(block: unknown, role: string, place: string): VendorFault | null {
  const kind = kindOf(block);
  if (kind === null || !(kindsByRole[role] ?? []).includes(kind)) {
    const told = kind === null ? 'exactly one member' : `no ${kind}`;
    return refusal(`The content block at ${place} must have ${told} here.`);
  }
  switch (kind) {
    case 'text':
      return textFault(stringAt(block, 'text'), place);
    case 'image':
      return mediaFault(objectAt(block, 'image'), imageFormats, place);
    case 'document':
      return documentFault(objectAt(block, 'document'), place);
    case 'toolUse':
      return toolUseFault(objectAt(block, 'toolUse'), place);
    case 'toolResult':
      return toolResultFault(objectAt(block, 'toolResult'), place);
    case 'reasoningContent':
      return reasoningFault(objectAt(block, 'reasoningContent'), place);
    case 'cachePoint':
      return cacheFault(objectAt(block, 'cachePoint'), place);
    default:
      return null;
  }
}

function textFault(text: string | null, place: string): VendorFault | null {
  if (text !== null && text.trim() !== '') return null;
  return refusal(
    `The text field in the ContentBlock object at ${place} is blank. Add text to the text field, and try again.`,
  );
}

const imageFormats = ['png', 'jpeg', 'gif', 'webp'];
const documentFormats = ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'];

function extraFault(
  value: JsonObject,
  known: readonly string[],
  place: string,
): VendorFault | null {
  const extra = Object.keys(value).find((name) => !known.includes(name));
  if (extra === undefined) return null;
  return refusal(`Malformed input request: #/${place}: extraneous key [${extra}] is not permitted`);
}

function mediaFault(
  media: JsonObject | null,
  formats: readonly string[],
  place: string,
): VendorFault | null {
  const format = stringAt(media, 'format') ?? '';
  if (media === null || !formats.includes(format)) {
    return refusal(`The format at ${place} must be one of ${formats.join(', ')}.`);
  }
  const source = objectAt(media, 'source');
  if (kindOf(source) !== 'bytes' && kindOf(source) !== 's3Location') {
    return refusal(`The source at ${place} must have exactly one member.`);
  }
  if (kindOf(source) === 's3Location' || base64Bytes(stringAt(source, 'bytes') ?? '') !== null) {
    return null;
  }
  return refusal(`The bytes at ${place} are not valid base64.`);
}

function documentFault(document: JsonObject | null, place: string): VendorFault | null {
  const name = stringAt(document, 'name') ?? '';
  const isNamed =
    /^[a-zA-Z0-9\s\-()[\]]{1,200}$/.test(name) && !/\s\s/.test(name) && name.trim() !== '';
  if (!isNamed) {
    return refusal(
      'The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can’t contain more than one consecutive whitespace character.',
    );
  }
  const known = ['format', 'name', 'source', 'citations', 'context'];
  return mediaFault(document, documentFormats, place) ?? extraFault(document ?? {}, known, place);
}

const idPattern = /^[a-zA-Z0-9_.:-]{1,64}$/;
export const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

function toolUseFault(use: JsonObject | null, place: string): VendorFault | null {
  if (!idPattern.test(stringAt(use, 'toolUseId') ?? '')) {
    return refusal(`Value at '${place}.toolUse.toolUseId' failed to satisfy constraint.`);
  }
  if (!namePattern.test(stringAt(use, 'name') ?? '')) {
    return refusal(`Value at '${place}.toolUse.name' failed to satisfy constraint.`);
  }
  if (objectAt(use, 'input') === null) {
    return refusal(
      `The format of the value at ${place}.toolUse.input is invalid. Provide a json object for the field and try again.`,
    );
  }
  return extraFault(use ?? {}, ['toolUseId', 'name', 'input', 'type'], place);
}

function toolResultFault(result: JsonObject | null, place: string): VendorFault | null {
  if (!idPattern.test(stringAt(result, 'toolUseId') ?? '')) {
    return refusal(`Value at '${place}.toolResult.toolUseId' failed to satisfy constraint.`);
  }
  const content = arrayAt(result, 'content');
  if (content.length === 0) return refusal(`The content at ${place}.toolResult is empty.`);
  const { status } = result ?? {};
  if (status !== undefined && status !== 'success' && status !== 'error') {
    return refusal(`The status at ${place}.toolResult must be success or error.`);
  }
  return (
    extraFault(result ?? {}, ['toolUseId', 'content', 'status', 'type'], place) ??
    faultInEach(content, (block, index) =>
      blockFault(block, 'result', `${place}.toolResult.content.${index}`),
    )
  );
}

function reasoningFault(reasoning: JsonObject | null, place: string): VendorFault | null {
  const kind = kindOf(reasoning);
  if (kind === 'redactedContent') {
    const isBytes = base64Bytes(stringAt(reasoning, 'redactedContent') ?? '') !== null;
    return isBytes ? null : refusal(`The redacted content at ${place} is not valid base64.`);
  }
  const said = objectAt(reasoning, 'reasoningText');
  const text = stringAt(said, 'text');
  if (kind !== 'reasoningText' || text === null) {
    return refusal(`The reasoning content at ${place} must have exactly one member.`);
  }
  if (isReasoningSignature(stringAt(said, 'signature') ?? '', text)) return null;
  return refusal(
    `The model returned the following errors: ${place}: Invalid \`signature\` in \`thinking\` block`,
  );
}

function cacheFault(point: JsonObject | null, place: string): VendorFault | null {
  const ttl = point?.['ttl'];
  const isKnown = stringAt(point, 'type') === 'default';
  if (isKnown && (ttl === undefined || ttl === '5m' || ttl === '1h')) return null;
  return refusal(`The cache point at ${place} is not valid.`);
}
