/** A stream that goes on by another hand: what stands beside its text. */
import { expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/chat/stream-event.ts';
import { unknownUsage } from '../../../src/chat/usage.ts';
import { Joiner } from '../../../src/engine/continuation/joiner.ts';
import { SentAnswer } from '../../../src/engine/continuation/sent-answer.ts';
import { written } from '../../support/token-samples.ts';

it('tells no log probabilities: some of the words that they are of are taken away', () => {
  const sent = new SentAnswer();
  sent.begin(1, 'p1/model');
  const begun = 'The sky is blue because the air scatters';
  sent.note([{ events: [{ type: 'text', choice: 0, text: begun }], frame: null }]);
  const joiner = new Joiner({ sent, mode: 'prefill', model: 'model', usage: unknownUsage });
  const repeated = ['the air scatters', ' short waves more than long ones, and blue is short.'];
  const events: readonly ChatEvent[] = [
    ...repeated.map(
      (text): ChatEvent => ({ type: 'text', choice: 0, text, logprobs: [written(text, -1)] }),
    ),
    { type: 'finish', choice: 0, reason: 'stop', raw: 'stop' },
  ];
  const told = joiner.take([{ events, frame: null }]).flatMap((part) => part.events);
  expect(told.map((event) => (event.type === 'text' ? event.text : '')).join('')).toContain(
    'short waves',
  );
  expect(JSON.stringify(told)).not.toContain('logprob');
});

it('moves what is cited to where its words stand in the whole, also behind words taken away', () => {
  const sent = new SentAnswer();
  sent.begin(1, 'p1/model');
  const begun = 'The sky is blue because the air scatters';
  sent.note([{ events: [{ type: 'text', choice: 0, text: begun }], frame: null }]);
  const joiner = new Joiner({ sent, mode: 'prefill', model: 'model', usage: unknownUsage });
  const repeated = 'the air scatters';
  const said = `${repeated} short waves more than long ones, and blue is short.`;
  const start = said.indexOf('short waves');
  const events: readonly ChatEvent[] = [
    { type: 'text', choice: 0, text: said },
    {
      type: 'citation',
      choice: 0,
      citation: {
        source: { kind: 'web', url: 'https://example.com', title: null },
        citedText: null,
        span: { start, end: start + 'short waves'.length },
      },
    },
    { type: 'finish', choice: 0, reason: 'stop', raw: 'stop' },
  ];
  const told = joiner.take([{ events, frame: null }]).flatMap((part) => part.events);
  const whole = begun + told.map((event) => (event.type === 'text' ? event.text : '')).join('');
  const spans = told.flatMap((event) => (event.type === 'citation' ? [event.citation.span] : []));
  expect(spans.map((span) => whole.slice(span?.start, span?.end))).toEqual(['short waves']);
  expect(whole.indexOf('short waves')).toBe(whole.lastIndexOf('short waves'));
});
