/** What one candidate says, chunk by chunk, in order. */
import { append } from '../../base/append.ts';
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  objectAt,
  property,
  stringAt,
} from '../../base/json.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import { encodeJson } from '../exact-json.ts';
import { TextLogprobs } from '../token-logprobs.ts';
import { decodeToolName } from '../tool-names.ts';
import { type Finish, finishOf } from './finish-reasons.ts';
import { GroundingReader } from './grounding-reader.ts';
import { readLogprobs } from './logprobs.ts';
import { PartialArguments } from './partial-arguments.ts';
import { encodeCallId } from './tool-call-ids.ts';

/** Of the answer as a whole, for the ids of its calls. */
export type AnswerIdentity = {
  readonly family: string;
  /** Different for every answer; asked for each call. */
  readonly seed: () => string;
};

/** Work that a client of another dialect does not see. */
const working: ChatEvent = { type: 'activity', isProgress: true };
const malformed: ChatEvent = { type: 'malformed' };

/** Tools that the service runs by itself. */
const toolParts = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'] as const;

export class CandidateReader {
  readonly #choice: number;
  readonly #grounding: GroundingReader;
  #calls = 0;
  readonly #logprobs = new TextLogprobs('text');
  #isThinking = false;
  #thoughtSignature: string | null = null;
  #finish: Finish | null = null;
  /** A finish was told as a natural stop, and a call came after it. */
  #isFinishStale = false;
  /** The call whose arguments come in pieces. */
  #open: { readonly index: number; readonly pieces: PartialArguments } | null = null;

  constructor(choice: number) {
    this.#choice = choice;
    this.#grounding = new GroundingReader(choice);
  }

  get isFinished(): boolean {
    return this.#finish !== null;
  }

  read(candidate: JsonObject, identity: AnswerIdentity): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    this.#grounding.beginChunk();
    for (const part of arrayAt(objectAt(candidate, 'content'), 'parts')) {
      append(events, this.#readPart(part, identity));
    }
    const finish = finishOf(property(candidate, 'finishReason'));
    if (finish !== null) append(events, this.#close());
    append(events, this.#grounding.read(candidate, finish !== null));
    if (finish !== null || this.#isFinishStale) append(events, this.#tellFinish(finish));
    this.#logprobs.give(events, 0, readLogprobs(candidate));
    return events;
  }

  /** The body ended after a finish: what came after it is closed too. */
  end(): readonly ChatEvent[] {
    return this.isFinished ? this.#close() : [];
  }

  #readPart(part: unknown, identity: AnswerIdentity): readonly ChatEvent[] {
    const call = objectAt(part, 'functionCall');
    const signature = stringAt(part, 'thoughtSignature') ?? stringAt(part, 'thought_signature');
    if (call !== null) {
      this.#grounding.notePart('other', null);
      return [...this.#endThinking(), ...this.#readCall(call, signature, identity)];
    }
    const text = stringAt(part, 'text');
    const isThought = property(part, 'thought') === true;
    const kind = text === null ? 'other' : isThought ? 'thought' : 'text';
    this.#grounding.notePart(kind, isThought ? null : text);
    if (text === null) return isJsonObject(part) ? [this.#unshown(part)] : [malformed];
    if (isThought) return this.#think(text, signature);
    if (text !== '') return [...this.#endThinking(), { type: 'text', choice: this.#choice, text }];
    // A signature on its own: only a client of this dialect can keep it.
    return signature === null ? [] : [working];
  }

  /** What only a client of this dialect can be shown. */
  #unshown(part: JsonObject): ChatEvent {
    const media = objectAt(part, 'inlineData') ?? objectAt(part, 'fileData');
    const mediaType = stringAt(media, 'mimeType') ?? '';
    const choice = this.#choice;
    if (mediaType.startsWith('image/')) return { type: 'omitted', choice, name: 'images' };
    if (mediaType.startsWith('audio/')) return { type: 'omitted', choice, name: 'audio' };
    const isTool = toolParts.some((name) => objectAt(part, name) !== null);
    return isTool ? { type: 'omitted', choice, name: 'provider_tools' } : working;
  }

  #think(text: string, signature: string | null): readonly ChatEvent[] {
    this.#isThinking = true;
    this.#thoughtSignature = signature ?? this.#thoughtSignature;
    return text === '' ? [] : [{ type: 'reasoning', choice: this.#choice, text }];
  }

  #endThinking(): readonly ChatEvent[] {
    if (!this.#isThinking) return [];
    const signature = this.#thoughtSignature;
    this.#isThinking = false;
    this.#thoughtSignature = null;
    return [{ type: 'reasoning_end', choice: this.#choice, signature, redacted: null }];
  }

  #readCall(
    call: JsonObject,
    signature: string | null,
    identity: AnswerIdentity,
  ): readonly ChatEvent[] {
    const name = stringAt(call, 'name');
    if (name !== null && name !== '') return this.#startCall(call, name, signature, identity);
    if (this.#open === null) return [];
    const isPlaced = this.#open.pieces.add(call);
    const events: readonly ChatEvent[] = isPlaced ? [working] : [malformed];
    return isContinued(call) ? events : [...events, ...this.#endCall()];
  }

  #startCall(
    call: JsonObject,
    name: string,
    signature: string | null,
    { family, seed }: AnswerIdentity,
  ): readonly ChatEvent[] {
    const ended = this.#endCall();
    const index = this.#calls;
    this.#calls += 1;
    this.#isFinishStale = this.#finish?.reason === 'stop';
    const start: ChatEvent = {
      type: 'tool_call_start',
      choice: this.#choice,
      index,
      id: encodeCallId({
        family,
        providerId: stringAt(call, 'id') || null,
        signature,
        seed: `${seed()}:${this.#choice}:${index}`,
      }),
      name: decodeToolName(name),
    };
    if (isContinued(call) || arrayAt(call, 'partialArgs').length > 0) {
      const pieces = new PartialArguments();
      this.#open = { index, pieces };
      const placed: readonly ChatEvent[] = pieces.add(call) ? [] : [malformed];
      const end = isContinued(call) ? [] : this.#endCall();
      return [...ended, start, ...placed, ...end];
    }
    const text = encodeJson(objectAt(call, 'args') ?? {});
    return [...ended, start, ...this.#argumentEvents(index, text.ok ? text.value : null)];
  }

  #endCall(): readonly ChatEvent[] {
    if (this.#open === null) return [];
    const { index, pieces } = this.#open;
    this.#open = null;
    return this.#argumentEvents(index, pieces.text());
  }

  /** `text` null: the arguments cannot be written. */
  #argumentEvents(index: number, text: string | null): readonly ChatEvent[] {
    const choice = this.#choice;
    const told: ChatEvent =
      text === null ? malformed : { type: 'tool_call_arguments', choice, index, fragment: text };
    return [told, { type: 'tool_call_end', choice, index }];
  }

  #close(): readonly ChatEvent[] {
    return [...this.#endThinking(), ...this.#endCall()];
  }

  /** The service calls it STOP also when it waits for the results of calls. */
  #tellFinish(finish: Finish | null): readonly ChatEvent[] {
    this.#finish = finish ?? this.#finish;
    this.#isFinishStale = false;
    if (this.#finish === null) return [];
    const { reason, raw } = this.#finish;
    const told = reason === 'stop' && this.#calls > 0 ? 'tool_calls' : reason;
    return [{ type: 'finish', choice: this.#choice, reason: told, raw }];
  }
}

function isContinued(call: JsonObject): boolean {
  return property(call, 'willContinue') === true;
}
