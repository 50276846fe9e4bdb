/** Fixtures written for this project: `test/fixtures/<dialect>/<case>/` holds one body and `expect.json`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import { encodeEvent, encodeException } from '../../support/event-stream-codec.ts';
import {
  classOf,
  classOfAnswer,
  cutEvery,
  type Decoded,
  decodeStream,
  decodeWhole,
  placesNearLineEnds,
} from './decoded.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url));

/**
 * The body is `reply.json` (a whole 200), `stream.sse` (a 200), `stream.jsonl` (the same in binary
 * frames: a line is an event or an exception under its type) or `error.json` (any other status).
 */
const bodies = ['reply.json', 'stream.sse', 'stream.jsonl', 'error.json'] as const;

type Expectation = {
  /** Where the facts were taken from. */
  readonly source: string;
  /** Of an error: its HTTP status. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The class of an error, also of one inside a 200; absent or null = an answer. */
  readonly class?: string | null;
  readonly text?: string;
  readonly reasoning?: string;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly { readonly name: string; readonly args: unknown }[];
  /** `of`: the words of the answer that it is of; null = not said which. */
  readonly citations?: readonly {
    readonly source: unknown;
    readonly cited_text?: string;
    readonly of: string | null;
  }[];
  readonly omitted?: readonly string[];
  readonly finish?: string | null;
  readonly usage?: Readonly<Record<string, number | null>>;
  readonly malformed?: number;
  readonly ends?: boolean;
};

type Fixture = {
  readonly name: string;
  readonly body: (typeof bodies)[number];
  readonly bytes: Buffer;
  readonly expect: Expectation;
};

function fixturesOf(dialect: string): readonly Fixture[] {
  const folder = `${fixtures}${dialect}`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const present = bodies.filter((body) => existsSync(`${folder}/${name}/${body}`));
      const [body] = present;
      if (body === undefined || present.length > 1) {
        throw new Error(`${dialect}/${name} must hold one of ${bodies.join(', ')}`);
      }
      return {
        name,
        body,
        bytes: bytesOf(readFileSync(`${folder}/${name}/${body}`), body),
        expect: JSON.parse(readFileSync(`${folder}/${name}/expect.json`, 'utf8')),
      };
    });
}

function bytesOf(written: Buffer, body: Fixture['body']): Buffer {
  if (body !== 'stream.jsonl') return written;
  const lines = written.toString('utf8').trim().split('\n');
  const messages = lines.flatMap((line) => Object.entries<unknown>(JSON.parse(line)));
  return Buffer.concat(
    messages.map(([type, payload]) =>
      type.endsWith('Exception') ? encodeException(type, payload) : encodeEvent(type, payload),
    ),
  );
}

function isStream({ body }: Fixture): boolean {
  return body === 'stream.sse' || body === 'stream.jsonl';
}

function decode(dialect: UpstreamDialect, fixture: Fixture): Decoded {
  return isStream(fixture)
    ? decodeStream(dialect, [fixture.bytes])
    : decodeWhole(dialect, fixture.bytes);
}

function expectDecoded(decoded: Decoded, expected: Expectation): void {
  const { usage } = decoded;
  const all = {
    text: decoded.text,
    reasoning: decoded.reasoning,
    refusal: decoded.refusal,
    tool_calls: decoded.toolCalls,
    citations: decoded.citations.map(({ source, citedText, span }) => ({
      source,
      ...(citedText === null ? {} : { cited_text: citedText }),
      of: span === null ? null : decoded.text.slice(span.start, span.end),
    })),
    omitted: decoded.omitted,
    finish: decoded.finish,
    usage: {
      input_total: usage.inputTokens,
      cache_read: usage.cachedTokens,
      cache_write: usage.cacheWriteTokens,
      output_total: usage.outputTokens,
      reasoning: usage.reasoningTokens,
    },
    malformed: decoded.malformed,
    ends: decoded.hasEnded,
  };
  const { source: _, class: __, ...named } = expected;
  expect(all).toMatchObject(named);
}

function meant(decoded: Decoded): Decoded['events'] {
  return decoded.events.filter((event) => event.type !== 'activity');
}

for (const [name, dialect] of upstreamDialects) {
  const cases = fixturesOf(name);

  describe(`${name} on fixtures`, () => {
    it('has some', () => expect(cases.length).toBeGreaterThan(0));

    it.each(cases.map((fixture) => [fixture.name, fixture] as const))(
      'reads %s',
      (_name, fixture) => {
        const { status, headers = {}, class: expectedClass = null } = fixture.expect;
        if (fixture.body === 'error.json') {
          const text = fixture.bytes.toString('utf8');
          const body: unknown = text.startsWith('<') ? text : JSON.parse(text);
          expect(classOf(dialect, { status: status ?? null, headers, body })).toBe(expectedClass);
          return;
        }
        const decoded = decode(dialect, fixture);
        expectDecoded(decoded, fixture.expect);
        expect(classOfAnswer(dialect, decoded)).toBe(expectedClass);
      },
    );

    it.each(cases.filter(isStream).map((fixture) => [fixture.name, fixture] as const))(
      'ST-13 ST-14 ST-17 gives the same events however %s is cut',
      (_name, { bytes }) => {
        const whole = meant(decodeStream(dialect, [bytes]));
        for (const size of [1, 2, 3, 5, 7, 64]) {
          expect(meant(decodeStream(dialect, cutEvery(bytes, size)))).toEqual(whole);
        }
        for (const at of placesNearLineEnds(bytes, 4, 1000)) {
          const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
          expect(meant(decodeStream(dialect, pieces))).toEqual(whole);
        }
      },
    );
  });
}
