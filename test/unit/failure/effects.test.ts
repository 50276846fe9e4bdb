import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ErrorClass, errorClasses } from '../../../src/failure/attempt-failure.ts';
import { unresolvedSecret } from '../../../src/failure/attempt-failures.ts';
import { type Effect, effectOf, effectsTable } from '../../../src/failure/effects.ts';
import { classified } from './failed-answers.ts';

function effect(
  errorClass: ErrorClass,
  rest: {
    readonly connection?: 'refused' | 'reset';
    readonly shouldRetry?: boolean;
    readonly rule?: string;
  } = {},
): Effect {
  return effectOf({
    errorClass,
    connection: rest.connection ?? null,
    shouldRetry: rest.shouldRetry ?? null,
    ...(rest.rule === undefined ? {} : { rule: rest.rule }),
  });
}

describe('effects', () => {
  /** Written down from the design once more: class, same target, breaker, next, parks, alert. */
  const rows: readonly (readonly [
    ErrorClass,
    'refused' | 'reset' | undefined,
    Effect['sameTarget'],
    boolean,
    Effect['nextTarget'],
    string | null,
    string | null,
  ])[] = [
    ['connection', 'refused', 'last_resort_only', true, 'at_once', null, null],
    ['connection', 'reset', 'retry', true, 'when_sustained', null, null],
    ['connection', undefined, 'retry', true, 'when_sustained', null, null],
    ['transient_infra', undefined, 'retry', true, 'when_sustained', null, null],
    ['malformed_response', undefined, 'retry', true, 'when_sustained', null, null],
    ['timeout', undefined, 'last_resort_only', true, 'at_once', null, null],
    ['overload', undefined, 'retry', true, 'when_sustained', null, null],
    ['rate_limit', undefined, 'other_key_then_hint', false, 'when_wait_does_not_fit', null, null],
    [
      'quota_exhausted',
      undefined,
      'other_key_only',
      false,
      'at_once',
      'key fixed',
      'quota_exhausted',
    ],
    ['auth', undefined, 'other_key_only', false, 'at_once', 'key growing', 'auth_rejected'],
    ['permission', undefined, 'other_key_only', false, 'at_once', 'key fixed', 'permission_denied'],
    ['not_found', undefined, 'never', false, 'at_once', 'target fixed', 'model_not_found'],
    ['context_length', undefined, 'never', false, 'larger_window', null, null],
    ['invalid_request', undefined, 'never', false, 'whose_fault', null, null],
    ['content_policy', undefined, 'never', false, 'if_policy_allows', null, null],
    ['poisoned', undefined, 'never', false, 'never', null, null],
    ['stream_interrupted', undefined, 'stream_rules', true, 'stream_rules', null, null],
    ['client_gone', undefined, 'never', false, 'never', null, null],
    ['internal', undefined, 'never', false, 'never', null, 'internal_error'],
  ];
  it.each(rows)(
    'R10 R13 %s %s',
    (errorClass, connection, sameTarget, counts, next, parks, alert) => {
      const row = effect(errorClass, connection === undefined ? {} : { connection });
      const parking = row.parking === null ? null : `${row.parking.subject} ${row.parking.period}`;
      expect([row.sameTarget, row.countsForBreaker, row.nextTarget, parking, row.alert]).toEqual([
        sameTarget,
        counts,
        next,
        parks,
        alert,
      ]);
      expect(row.coolsKey).toBe(errorClass === 'rate_limit');
    },
  );

  it('every class has its row', () => {
    expect(new Set(rows.map(([errorClass]) => errorClass))).toEqual(new Set(errorClasses));
  });

  it('BR-05 what a request brings upon itself leaves no mark', () => {
    for (const status of [400, 404, 413, 422]) {
      expect(effectOf(classified({ status })).countsForBreaker).toBe(false);
    }
  });

  it('a provider or an operator that forbids a repeat sends the request on at once', () => {
    expect(effect('overload', { shouldRetry: false })).toMatchObject({
      sameTarget: 'never',
      nextTarget: 'at_once',
      countsForBreaker: true,
    });
    expect(effect('invalid_request', { shouldRetry: false }).nextTarget).toBe('whose_fault');
  });

  it('a rate limit that forbids a repeat forbids it to the key that was used', () => {
    expect(effect('rate_limit', { shouldRetry: false })).toMatchObject({
      sameTarget: 'other_key_only',
      nextTarget: 'at_once',
      coolsKey: true,
    });
  });

  it('one that asks for a repeat gets it where the class would not', () => {
    expect(effect('timeout', { shouldRetry: true })).toMatchObject({
      sameTarget: 'retry',
      nextTarget: 'when_sustained',
    });
    expect(effect('invalid_request', { shouldRetry: true }).sameTarget).toBe('retry');
    expect(effect('rate_limit', { shouldRetry: true }).sameTarget).toBe('other_key_then_hint');
    expect(effect('overload', { shouldRetry: true })).toEqual(effect('overload'));
  });

  it('a secret that does not resolve alerts as that', () => {
    expect(effectOf(unresolvedSecret('env:KEY'))).toMatchObject({
      alert: 'secret_unresolved',
      sameTarget: 'other_key_only',
    });
  });

  it('every class is explained in the docs, where its anchor points', () => {
    const path = fileURLToPath(new URL('../../../docs/errors.md', import.meta.url));
    const headings = readFileSync(path, 'utf8').split('\n');
    for (const errorClass of errorClasses) {
      expect(headings).toContain(`## ${effect(errorClass).docsAnchor}`);
    }
  });

  it('the table for the docs has a row for each class, and both of connection', () => {
    const lines = effectsTable().split('\n');
    expect(lines).toHaveLength(2 + errorClasses.length + 1);
    for (const line of lines) expect(line.split(' | ')).toHaveLength(6);
    for (const errorClass of errorClasses) expect(effectsTable()).toContain(`\`${errorClass}\``);
    expect(lines).toContain(
      '| `overload` | the provider has too little capacity for everyone: 529, 503 overloaded | yes | yes | when sustained |  |',
    );
  });
});

describe('a fixed sequence of statuses', () => {
  const rows: readonly (readonly [number, Effect['sameTarget']])[] = [
    [400, 'never'],
    [401, 'other_key_only'],
    [403, 'other_key_only'],
    [404, 'never'],
    [422, 'never'],
    [408, 'last_resort_only'],
    [429, 'other_key_then_hint'],
    [500, 'retry'],
    [502, 'retry'],
    [503, 'retry'],
    [504, 'retry'],
    [529, 'retry'],
  ];
  it.each(rows)('R91 R10 after %i the same target: %s', (status, sameTarget) => {
    expect(effectOf(classified({ status })).sameTarget).toBe(sameTarget);
  });
});
