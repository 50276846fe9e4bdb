/** What a citation of anthropic-messages lacks, by the types of its SDK. */
type Json = { readonly [key: string]: unknown };

const isText = (value: unknown): boolean => typeof value === 'string';
const isTitle = (value: unknown): boolean => value === null || (isText(value) && value !== '');
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

type Fields = { readonly [name: string]: (value: unknown) => boolean };

const ofDocument: Fields = {
  document_index: isCount,
  document_title: isTitle,
  file_id: (value) => value === null || isText(value),
};

const fieldsOf: { readonly [type: string]: Fields } = {
  char_location: { ...ofDocument, start_char_index: isCount, end_char_index: isCount },
  page_location: { ...ofDocument, start_page_number: isCount, end_page_number: isCount },
  content_block_location: { ...ofDocument, start_block_index: isCount, end_block_index: isCount },
  search_result_location: {
    search_result_index: isCount,
    source: isText,
    title: isTitle,
    start_block_index: isCount,
    end_block_index: isCount,
  },
  web_search_result_location: {
    url: (value) => isText(value) && value !== '',
    title: isTitle,
    encrypted_index: (value) => isText(value) && value !== '',
  },
};

/** Empty = it is as the SDK declares it. */
export function messageCitationFaults(citation: Json): readonly string[] {
  const type = String(citation['type']);
  const fields = fieldsOf[type];
  if (fields === undefined) return [`a citation of type ${type}`];
  const wanted: Fields = { ...fields, cited_text: isText };
  const missing = Object.entries(wanted).filter(([name, isRight]) => !isRight(citation[name]));
  const extra = Object.keys(citation).filter((name) => name !== 'type' && !(name in wanted));
  return [...missing.map(([name]) => name), ...extra].map((name) => `${name} of a ${type}`);
}
