import { describe, expect, it } from 'vitest';
import type { UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import {
  classOf,
  classOfAnswer,
  cutEvery,
  type Decoded,
  decodeStream,
  placesNearLineEnds,
} from './decoded.ts';
import { bodyOf, decode, expectAnswer } from './expected-answer.ts';
import {
  isStream,
  readRecorded,
  recordedFolder,
  recordedOf,
  recordedSubjects,
} from './recorded-fixtures.ts';

/**
 * Answers that the index reads by taking back what was said. Events cannot be taken back, so the stream
 * is given up with this class, and the engine begins anew (or says that it broke).
 */
const givenUp: ReadonlyMap<string, string> = new Map([
  ['anthropic/spliced-message-start.chunks.txt', 'stream_interrupted'],
]);

const root = recordedFolder();
if (root === null) {
  console.log('recorded fixtures: not found, their suite did not run (set TIERGATE_RECORDED)');
}

function upstream(name: string): UpstreamDialect {
  const found = upstreamDialects.get(name);
  if (found === undefined) throw new Error(`no upstream dialect ${name}`);
  return found;
}

for (const subject of root === null ? [] : recordedSubjects) {
  const dialect = upstream(subject.dialect);
  const files = recordedOf(subject.dialect, root ?? '');
  const failed = files.filter(({ status }) => status >= 400);
  const answers = files.filter(({ status, expect: { canonical } }) => status < 400 && canonical);
  const broken = files.filter(({ status, expect }) => status < 400 && expect.class !== undefined);

  describe(`${subject.dialect} on recorded bytes`, () => {
    it.each(answers.map((recorded) => [recorded.file, recorded] as const))(
      'reads %s',
      (file, recorded) => {
        const decoded = decode(dialect, recorded);
        const givenUpAs = givenUp.get(file);
        if (givenUpAs !== undefined) expect(classOfAnswer(dialect, decoded)).toBe(givenUpAs);
        else expectAnswer(decoded, recorded.expect);
      },
    );

    it.each(failed.map((recorded) => [recorded.file, recorded] as const))(
      'classifies %s',
      (_file, recorded) => {
        const { status, headers, expect: expected } = recorded;
        expect(classOf(dialect, { status, headers, body: bodyOf(recorded) })).toBe(expected.class);
      },
    );

    it.each(broken.map((recorded) => [recorded.file, recorded] as const))(
      'RH-11 takes no 200 for an answer: %s',
      (_file, recorded) => {
        const decoded = decode(dialect, recorded);
        const found = classOfAnswer(dialect, decoded);
        // Cut by a filter: an answer whose finish says so (2-api, Failure classes).
        const isFiltered = recorded.expect.canonical?.finish === 'content_filter';
        // After content any fault is an interruption (5-streams).
        const isLate = recorded.expect.class === 'stream_interrupted' && decoded.text !== '';
        if (isFiltered) expect(decoded.finish).toBe('content_filter');
        else if (isLate) expect(decoded.finish).toBeNull();
        else expect(found).toBe(recorded.expect.class);
      },
    );

    it.each(files.filter(isStream).map((recorded) => [recorded.file, recorded] as const))(
      'ST-13 ST-17 gives the same events however %s is cut',
      (_file, { bytes }) => {
        const { events } = decodeStream(dialect, [bytes]);
        for (const size of [1, 2, 3, 5, 7, 64]) {
          expect(meant(decodeStream(dialect, cutEvery(bytes, size)).events)).toEqual(meant(events));
        }
        for (const at of placesNearLineEnds(bytes, 4, 150)) {
          const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
          expect(meant(decodeStream(dialect, pieces).events)).toEqual(meant(events));
        }
      },
    );
  });
}

/** Signs of life say when, not what: a CR LF cut in two may give one more. */
function meant(events: Decoded['events']): Decoded['events'] {
  return events.filter((event) => event.type !== 'activity');
}

describe('the recorded fixtures', () => {
  it.skipIf(root === null)('are each read by one dialect', () => {
    const read = recordedSubjects
      .flatMap((subject) => recordedOf(subject.dialect, root ?? ''))
      .map(({ file }) => file);
    expect(read.length).toBeGreaterThan(150);
    expect(new Set(read).size).toBe(read.length);
    const folders = new Set(recordedSubjects.flatMap((subject) => subject.folders));
    const all = [...folders].flatMap((folder) => readRecorded(root ?? '', folder));
    expect(read.toSorted()).toEqual(all.map(({ file }) => file).toSorted());
  });
});
