/** What every kind of provider does differently, in words, from the tables that the code goes by. */
import type { MessagesQuirks } from '../../src/dialects/anthropic-messages/messages-quirks.ts';
import { boundAbility } from '../../src/dialects/foreign-request.ts';
import type { GeminiQuirks } from '../../src/dialects/gemini/gemini-quirks.ts';
import type {
  ChatQuirks,
  ContentKind,
  MessageQuirks,
} from '../../src/dialects/openai-chat/chat-quirks.ts';
import { refusedSampling } from '../../src/dialects/openai-chat/encode-parameters.ts';
import { bindingRequestFields } from '../../src/dialects/openai-chat/wire.ts';
import type { Differences } from '../../src/providers/provider-kind.ts';

/** A row of a kind's table; null = nothing to tell. */
export type QuirkRow = readonly [subject: string, told: string] | null;

/** One sentence for each entry of a table: an entry without one does not compile. */
type Words<Quirks> = {
  readonly [name in keyof Required<Quirks>]: (
    value: NonNullable<Required<Quirks>[name]>,
  ) => QuirkRow | readonly QuirkRow[];
};

export function quirkRows(differences: Differences | undefined): readonly QuirkRow[] {
  switch (differences?.dialect) {
    case undefined:
      return [];
    case 'openai-chat': {
      const { quirks } = differences;
      const refused = [...refusedSampling(quirks).keys()];
      const sampling: QuirkRow =
        refused.length === 0 ? null : ['left out for models that reason', codes(refused)];
      return [sampling, ...rowsOf(quirks, chatWords)];
    }
    case 'anthropic-messages':
      return rowsOf(differences.quirks, messagesWords);
    case 'gemini':
      return rowsOf(differences.quirks, geminiWords);
  }
}

/** In the order of the words. */
function rowsOf<Quirks extends object>(quirks: Quirks, words: Words<Quirks>): readonly QuirkRow[] {
  const rows: QuirkRow[] = [];
  for (const name of Object.keys(words) as (keyof Required<Quirks>)[]) {
    const value = quirks[name];
    if (value === undefined || value === null) continue;
    const told = words[name](value as NonNullable<Required<Quirks>[typeof name]>);
    if (isRow(told)) rows.push(told);
    else rows.push(...told);
  }
  return rows;
}

function isRow(told: QuirkRow | readonly QuirkRow[]): told is QuirkRow {
  return told === null || typeof told[0] === 'string';
}

const contentNames = {
  image: 'images',
  image_link: 'links to images',
  file: 'documents',
  audio: 'audio',
} satisfies { readonly [kind in ContentKind]: string };

const elsewhere = 'sent to another target';

const chatWords: Words<ChatQuirks> = {
  outputLimit: (name) => ['output limit', `always ${code(name)}`],
  renamedFields: (names) => [
    'renamed',
    Object.entries(names)
      .map(([from, to]) => `${code(from)} to ${code(to)}`)
      .join(', '),
  ],
  onlyFields: (names) => ['the only fields sent', codes(names)],
  refusedFields: (names) => [
    ['left out and named', codes(names.filter((name) => !changesMeaning(name)))],
    [elsewhere, codes(names.filter(changesMeaning))],
  ],
  carriedParameters: (names) => ['taken from clients of other protocols too', codes(names)],
  // Told by the row before these.
  refusedByReasoning: () => null,
  effortFields: (efforts) =>
    Object.entries(efforts).map(([effort, fields]) => [
      `the effort ${code(effort)}`,
      `sent as ${code(JSON.stringify(fields))}`,
    ]),
  serviceTiers: (tiers) => ['service tiers', `${codes(tiers)}; others are left out and named`],
  takesStreamOptions: (isTaken) =>
    isTaken ? null : ['`stream_options`', 'not sent; its streams tell usage unasked'],
  stopSequencesMax: (max) => [elsewhere, `more than ${max} stop sequences`],
  toolsMax: (max) => [elsewhere, `more than ${max} tools`],
  imagesMax: (max) => [elsewhere, `more than ${max} images`],
  refusedParts: (kinds) => [elsewhere, kinds.map((kind) => contentNames[kind]).join(', ')],
  providerTools: (kinds) => [
    'tools beside functions, and content of its own',
    kinds.length === 0 ? 'none; a request with any goes to another target' : codes(kinds),
  ],
  toolChoice: (how) =>
    how === 'ignored'
      ? [elsewhere, 'a forced tool, which it would not heed']
      : ['`allowed_tools`', 'only those tools are sent'],
  messages: (quirks) => rowsOf(quirks, messageWords),
  hasEmbeddings: (has) => (has ? null : ['embeddings', 'none']),
  takesLongToolNames: (isTaken) => (isTaken ? ['tool names', 'of any length'] : null),
  errorRules: (rules) => [
    'errors read in its own way',
    rules.map(({ name, errorClass }) => `${code(name)}: ${code(errorClass)}`).join(', '),
  ],
};

const messageWords: Words<MessageQuirks> = {
  onlyFields: (names) => ['the only fields of a message', codes(names)],
  takesNames: (isTaken) => (isTaken ? null : ['names of messages', 'left out and named']),
  takesDeveloperRole: (isTaken) => (isTaken ? null : ['the role `developer`', 'sent as `system`']),
  echo: ({ place, service, isForCallsAlone, isRequiredWithCalls }) => [
    'reasoning of its own that comes back',
    [
      `as ${code(place)}`,
      ...(isForCallsAlone ? ['only in turns with tool calls'] : []),
      ...(service === undefined ? ['from clients of its own protocol alone'] : []),
      ...(isRequiredWithCalls ? ['empty where such a turn has none'] : []),
    ].join(', '),
  ],
  callIdLength: (length) => ['ids of tool calls', `made to ${length} letters and digits`],
  prefillMark: (mark) => ['a last turn of the assistant', `marked ${code(JSON.stringify(mark))}`],
};

const messagesWords: Words<MessagesQuirks> = {
  namesModel: (isNamed) => (isNamed ? null : ['the model', 'in the path, not in the body']),
  fixedFields: (fields) => ['in every body', code(JSON.stringify(fields))],
  headerFields: (headers) => [
    'headers that become fields',
    Object.entries(headers)
      .map(([header, field]) => `${code(header)} to ${code(field)}`)
      .join(', '),
  ],
  fetchesLinks: (fetches) => (fetches ? null : [elsewhere, 'links to images and documents']),
  hasFileStore: (has) => (has ? null : [elsewhere, "ids of the vendor's file store"]),
  refusedFields: (names) => [elsewhere, codes(names)],
  refusedTools: ({ source }) => [
    elsewhere,
    `tools whose kind matches ${code(source.replaceAll('|', '\\|'))}`,
  ],
  countUrl: () => null,
};

const geminiWords: Words<GeminiQuirks> = {
  fetchesLinks: (fetches) => [
    'links to media',
    fetches('') ? 'fetched, whatever the model' : 'fetched by some models',
  ],
  hasFileStore: (has) => (has ? null : [elsewhere, "ids of the vendor's file store"]),
  wrapsCountedChat: () => null,
};

/** Whether an answer without the field would be another one. */
function changesMeaning(field: string): boolean {
  return boundAbility(field) !== null || bindingRequestFields.some((name) => name === field);
}

function codes(names: readonly string[]): string {
  return names.map(code).join(', ');
}

function code(text: string): string {
  return `\`${text}\``;
}
