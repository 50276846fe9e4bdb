/** A client's body, read into the canonical request. Checks by hand: a schema library would cost more than all the rest. */
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { ProviderTool } from '../../chat/request.ts';
import { readClientBody, type ScannedBody } from '../client-body.ts';
import type { DecodedRequest, RequestFault } from '../dialect.ts';
import { FirstFault } from '../first-fault.ts';
import { noteUnknown, toldNames } from '../unknown-fields.ts';
import { readMessages } from './client-messages.ts';
import { knownFormats, readParameters } from './client-parameters.ts';
import { knownChoices, readToolChoice, readTools } from './client-tools.ts';
import { bindingRequestFields, dialectName, knownRequestFields } from './wire.ts';

export function decodeRequest(body: Buffer): Result<DecodedRequest, RequestFault> {
  const faults = new FirstFault();
  const scanned = readClientBody(body, 'messages', faults);
  if (scanned === null) return fail(faultOf(faults));
  const { json, extension, fields, texts } = scanned;
  const model = readModel(json, faults);
  const read = readMessages(json['messages'], faults, texts);
  const tools = readTools(json['tools'], faults, read.notes);
  const toolChoice = readToolChoice(json['tool_choice'], faults);
  const parameters = readParameters(json, faults);
  const isStream = readFlag(json, 'stream', faults);
  const includeUsage = readIncludeUsage(json['stream_options'], isStream, faults);
  if (faults.fault !== null) return fail(faults.fault);
  const original: ScannedBody = { dialect: dialectName, bytes: body, json, fields };
  return success({
    extension,
    request: {
      model,
      messages: read.messages,
      tools: tools.tools,
      providerTools: [
        ...tools.providerTools,
        ...read.opaqueParts,
        ...bindingFields(json),
        ...unknownForms(json),
      ],
      toolChoice,
      parameters,
      isStream,
      includeUsage,
      otherFields: otherFields(json, read.notes),
      original,
    },
  });
}

function faultOf(faults: FirstFault): RequestFault {
  return faults.fault ?? { message: 'the body cannot be read', param: null };
}

function readModel(json: JsonObject, faults: FirstFault): string {
  const model = json['model'];
  if (typeof model === 'string') return model;
  if (model !== undefined && model !== null) faults.reportType('model', 'a string', model);
  return '';
}

function readFlag(json: JsonObject, name: string, faults: FirstFault): boolean {
  const value = json[name];
  if (value === true) return true;
  if (value !== false && value !== undefined && value !== null) {
    faults.reportType(name, 'true or false', value);
  }
  return false;
}

function readIncludeUsage(options: unknown, isStream: boolean, faults: FirstFault): boolean {
  if (options === undefined || options === null) return false;
  if (!isJsonObject(options)) {
    faults.reportType('stream_options', 'an object', options);
    return false;
  }
  if (!isStream) {
    faults.report('stream_options', 'stream_options is only allowed when stream is true');
  }
  const wanted = options['include_usage'];
  if (wanted !== undefined && wanted !== null && typeof wanted !== 'boolean') {
    faults.reportType('stream_options.include_usage', 'true or false', wanted);
  }
  return wanted === true;
}

/** What another dialect cannot carry and may not leave out: kept as an opaque tool of this one. */
function bindingFields(json: JsonObject): readonly ProviderTool[] {
  const found: ProviderTool[] = [];
  for (const kind of bindingRequestFields) {
    const value = json[kind];
    if (value === undefined || value === null) continue;
    if (kind === 'modalities' && Array.isArray(value) && value.every((name) => name === 'text')) {
      continue;
    }
    found.push({ dialect: dialectName, kind, raw: { [kind]: value } });
  }
  return found;
}

/** Values of a form not known here: what they ask for is known to this dialect alone. */
function unknownForms(json: JsonObject): readonly ProviderTool[] {
  const forms = [
    ['tool_choice', knownChoices],
    ['response_format', knownFormats],
  ] as const;
  return forms.flatMap(([kind, known]) => {
    const type = stringAt(json[kind], 'type');
    const raw = objectAt(json, kind);
    if (type === null || raw === null || known.includes(type)) return [];
    return { dialect: dialectName, kind, raw };
  });
}

const knownFields: ReadonlySet<string> = new Set([...knownRequestFields, ...bindingRequestFields]);

function otherFields(json: JsonObject, notes: ReadonlySet<string>): readonly string[] {
  const names = new Set<string>();
  noteUnknown(json, knownFields, names);
  return toldNames(notes, [...names]);
}
