/** What kind of thing lies behind a link, by the ending of its path; null when that does not tell. */

const mediaTypes: { readonly [ending: string]: string } = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
};

export function linkTypeOf(url: string): string | null {
  const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(mediaTypes, ending) ? (mediaTypes[ending] ?? null) : null;
}
