/** What part of an answer rests on which source. */
import type { DialectName } from './request.ts';

/** In UTF-16 units of all the text of the choice, as `text` events give it: [start, end). */
export type TextSpan = { readonly start: number; readonly end: number };

/** Where in a source: [start, end). Characters and blocks count from 0, pages from 1. */
export type CitedPlace = {
  readonly unit: 'character' | 'page' | 'block';
  readonly start: number;
  readonly end: number;
};

export type CitedSource =
  | {
      readonly kind: 'web';
      readonly url: string;
      readonly title: string | null;
      /** What its maker alone can read, and wants back with the citation. */
      readonly sealed?: { readonly dialect: DialectName; readonly text: string };
    }
  | {
      /** One that the request brought, by its place among them, or that the provider keeps. */
      readonly kind: 'document';
      readonly index: number | null;
      readonly title: string | null;
      readonly fileId: string | null;
      readonly place: CitedPlace | null;
    }
  | {
      /** A passage that a tool's result brought; `source` is what the result calls it, often a URL. */
      readonly kind: 'search_result';
      readonly index: number;
      readonly source: string;
      readonly title: string | null;
      readonly place: CitedPlace | null;
    };

export type Citation = {
  readonly source: CitedSource;
  /** The source's own words; null = not given. */
  readonly citedText: string | null;
  /** What of the answer rests on it; null = not said. */
  readonly span: TextSpan | null;
};

/** Content of an answer that clients of other dialects cannot be told. Names are what `dropped` uses. */
export type OmittedContent = 'citations' | 'images' | 'audio' | 'provider_tools';

/** The citation in a text that has `units` more before what it is of; of no place where that is gone. */
export function movedCitation(citation: Citation, units: number): Citation {
  const { span } = citation;
  if (span === null || units === 0) return citation;
  const { start, end } = span;
  return {
    ...citation,
    span: start + units < 0 ? null : { start: start + units, end: end + units },
  };
}
