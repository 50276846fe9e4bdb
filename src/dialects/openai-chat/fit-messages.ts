/** The messages of a body as one service takes them, as splices. */
import { append } from '../../base/append.ts';
import { FieldEdit } from '../field-edit.ts';
import {
  type JsonContainer,
  type JsonMember,
  memberAt,
  removeMembers,
  type Splice,
  scanContainer,
  stringIn,
} from '../json-spans.ts';
import type { MessageQuirks } from './chat-quirks.ts';
import { shortToolCallId } from './tool-call-ids.ts';
import { reasoningFields } from './wire.ts';

type Fitting = { readonly isReasoningModel: boolean; readonly dropped: Set<string> };

export function fitMessages(
  { bytes, valueStart }: { readonly bytes: Buffer; readonly valueStart: number },
  quirks: MessageQuirks,
  fitting: Fitting,
): readonly Splice[] {
  const splices: Splice[] = [];
  const elements = scanContainer(bytes, valueStart)?.members ?? [];
  for (const element of elements) {
    const fields = scanContainer(bytes, element.valueStart);
    if (fields === null) continue;
    const message = new Message(bytes, fields, splices);
    fitMessage(message, quirks, fitting, element === elements.at(-1));
    append(splices, message.edit.splices());
  }
  return splices;
}

class Message {
  readonly edit: FieldEdit;
  readonly role: string | null;
  readonly #bytes: Buffer;
  /** Of what lies inside the fields. */
  readonly #inner: Splice[];

  constructor(bytes: Buffer, fields: JsonContainer, inner: Splice[]) {
    this.edit = new FieldEdit(bytes, fields);
    this.role = stringIn(bytes, memberAt(fields, 'role'));
    this.#bytes = bytes;
    this.#inner = inner;
  }

  get calls(): readonly JsonMember[] {
    const member = this.edit.member('tool_calls');
    return member === null ? [] : (scanContainer(this.#bytes, member.valueStart)?.members ?? []);
  }

  /** The parts of a content that is a list. */
  get parts(): JsonContainer | null {
    const member = this.edit.member('content');
    return member === null ? null : scanContainer(this.#bytes, member.valueStart);
  }

  string(holder: JsonContainer | null, name: string): string | null {
    return stringIn(this.#bytes, memberAt(holder, name));
  }

  replace({ valueStart, end }: JsonMember, value: string): void {
    this.#inner.push({ start: valueStart, end, text: JSON.stringify(value) });
  }

  removeParts(isRemoved: (type: string | null) => boolean): void {
    const { parts } = this;
    if (parts === null) return;
    const typeOf = (part: JsonMember): string | null =>
      this.string(scanContainer(this.#bytes, part.valueStart), 'type');
    append(
      this.#inner,
      removeMembers(parts, (part) => isRemoved(typeOf(part))),
    );
  }

  shortenIds(length: number): void {
    const places = this.calls.map((call) =>
      memberAt(scanContainer(this.#bytes, call.valueStart), 'id'),
    );
    for (const place of [...places, this.edit.member('tool_call_id')]) {
      const id = stringIn(this.#bytes, place);
      const short = id === null ? null : shortToolCallId(id, length);
      if (place !== null && short !== null && short !== id) this.replace(place, short);
    }
  }
}

function fitMessage(
  message: Message,
  quirks: MessageQuirks,
  { isReasoningModel, dropped }: Fitting,
  isLast: boolean,
): void {
  const { edit, role } = message;
  if (role === 'developer' && quirks.takesDeveloperRole === false) edit.set('role', 'system');
  if (quirks.callIdLength !== undefined) message.shortenIds(quirks.callIdLength);
  if (quirks.takesNames === false && edit.text('name') !== null) {
    if (role !== 'tool') dropped.add('name');
    edit.remove('name');
  }
  if (role === 'assistant') {
    fitReasoning(message, quirks, isReasoningModel);
    if (isLast) {
      for (const [name, value] of Object.entries(quirks.prefillMark ?? {})) edit.set(name, value);
    }
  }
  const { onlyFields } = quirks;
  if (onlyFields === undefined) return;
  const refusal = edit.text('refusal');
  if (refusal !== null && refusal !== 'null' && !onlyFields.includes('refusal')) {
    if ((edit.text('content') ?? 'null') === 'null') edit.setText('content', refusal);
  }
  for (const field of edit.names()) if (!onlyFields.includes(field)) edit.remove(field);
}

/** What the service did not ask for was taken out already. */
function fitReasoning(message: Message, { echo }: MessageQuirks, isReasoningModel: boolean): void {
  if (echo === undefined) return;
  const { edit } = message;
  const hasCalls = message.calls.length > 0;
  const isField = reasoningFields.includes(echo.place);
  if (echo.isForCallsAlone && !hasCalls) {
    if (isField) edit.remove(echo.place);
    else message.removeParts((type) => type === echo.place);
  }
  const isMissing = isField && (edit.text(echo.place) ?? 'null') === 'null';
  if (isMissing && hasCalls && echo.isRequiredWithCalls && isReasoningModel) {
    edit.set(echo.place, '');
  }
}
