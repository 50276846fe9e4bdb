/** How a stream left its client, read leniently: what a provider's own frames hold is the provider's. */
import { parseJson, property, stringAt } from '../../../src/base/json.ts';

/** `after_end`: something came after the end, which no client reads. */
export type LastWord = 'end' | 'error' | 'nothing' | 'after_end';

type Word = 'end' | 'error' | 'content';

export function lastWordOf(form: string, raw: string): LastWord {
  const wordOf = words[form];
  if (wordOf === undefined) throw new Error(`no words of ${form}`);
  const told = form === 'gemini array' ? elementsOf(raw) : documentsOf(raw);
  const said = told.map(wordOf);
  const last = said.at(-1);
  if (form.startsWith('gemini')) return last === 'content' ? 'nothing' : (last ?? 'nothing');
  if (said.slice(0, -1).includes('end')) return 'after_end';
  return last === 'end' || last === 'error' ? last : 'nothing';
}

const words: { readonly [form: string]: (document: unknown) => Word } = {
  'openai-chat': (document) =>
    document === '[DONE]' ? 'end' : property(document, 'error') ? 'error' : 'content',
  'openai-responses': (document) => {
    const type = stringAt(document, 'type');
    if (type === 'response.failed') return 'error';
    return type === 'response.completed' || type === 'response.incomplete' ? 'end' : 'content';
  },
  'anthropic-messages': (document) => {
    const type = stringAt(document, 'type');
    return type === 'message_stop' ? 'end' : type === 'error' ? 'error' : 'content';
  },
  gemini: geminiWord,
  'gemini array': geminiWord,
};

/** Its streams have no terminator: without an error their end is the end. */
function geminiWord(document: unknown): Word {
  return property(document, 'error') === undefined ? 'end' : 'error';
}

/** A line ends as it likes; what no blank line ends is no event. */
function documentsOf(raw: string): readonly unknown[] {
  const documents: unknown[] = [];
  let data: string[] = [];
  for (const line of raw.split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
    if (line !== '' || data.length === 0) continue;
    const parsed = parseJson(data.join('\n'));
    documents.push(parsed.ok ? parsed.value : data.join('\n').trim());
    data = [];
  }
  return documents;
}

function elementsOf(raw: string): readonly unknown[] {
  const parsed = parseJson(raw);
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
}
