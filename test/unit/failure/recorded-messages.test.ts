/** The shared words and patterns alone, without a dialect's rules, on what real providers answered. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { property, stringAt } from '../../../src/base/json.ts';
import { classify } from '../../../src/failure/classify.ts';
import type { ErrorFacts } from '../../../src/failure/error-rule.ts';
import {
  type Recorded,
  readRecorded,
  recordedFolder,
} from '../../conformance/dialects/recorded-fixtures.ts';
import { noHints, nowWallMs } from './failed-answers.ts';

/** No words that mean anything without knowing who speaks: these need their dialect's rules. */
const dialectOnly: ReadonlyMap<string, string> = new Map([
  ['anthropic/error-404-count-tokens.json', 'the message is just the name of the model'],
  ['anthropic/error-404-model.json', 'the message is just the name of the model'],
  ['groq/error-400-tool-required-not-called.json', 'the code alone says that the model failed'],
  ['groq/error-400-tool-use-failed.json', 'the code alone says that the model failed'],
]);

/** Shape alone: `error.message`, `error`, `message` or `detail`, and the words beside it. */
function plainFacts(status: number, document: unknown): ErrorFacts {
  const body = Array.isArray(document) ? document[0] : document;
  const error = property(body, 'error');
  const holder = typeof error === 'object' && error !== null ? error : body;
  const text = typeof error === 'string' ? error : null;
  const message = text ?? stringAt(holder, 'message') ?? stringAt(body, 'detail') ?? '';
  return {
    status,
    code: stringAt(holder, 'code'),
    type: stringAt(holder, 'type') ?? stringAt(body, 'error_type'),
    param: null,
    message,
    reasons: [],
    upstreamRequestId: null,
    isKnownShape: true,
  };
}

function recordedErrors(): readonly Recorded[] {
  const root = recordedFolder();
  if (root === null) return [];
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .filter(({ name }) => name !== 'licences')
    .flatMap(({ name }) => readRecorded(root, name))
    .filter(
      ({ form, status, expect }) => form === 'json' && status >= 400 && expect.class !== undefined,
    );
}

const recorded = recordedErrors();

describe('shared patterns on recorded and reported errors', () => {
  it('there are enough of them to mean something, where their folder is', () => {
    if (recordedFolder() === null) {
      console.info('recorded error messages: their folder is not there, nothing was compared');
      return;
    }
    expect(recorded.length).toBeGreaterThan(60);
  });

  it.each(recorded.map((answer) => [answer.file, answer] as const))('R10 %s', (file, answer) => {
    const body: unknown = JSON.parse(answer.bytes.toString('utf8'));
    const failure = classify({
      facts: plainFacts(answer.status, body),
      headers: answer.headers,
      isJson: true,
      body,
      rules: [],
      operatorRules: [],
      hints: noHints,
      nowWallMs,
    });
    if (dialectOnly.has(file)) {
      expect(failure.errorClass).not.toBe(answer.expect.class);
    } else {
      expect(failure.errorClass).toBe(answer.expect.class);
    }
  });
});
