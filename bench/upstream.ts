/** The simulated upstream, a process of its own: fixed answers without checks, and one slow provider. */
import { startProviders } from '../src/simulator/simulator.ts';

export type UpstreamFacts = {
  readonly chatOrigin: string;
  readonly messagesOrigin: string;
  /** Streams from here dribble for `slowStreamMs`. */
  readonly slowOrigin: string;
};

const slowStreamMs = 4_000;
const slowGapMs = 200;

// One event a write, as providers send a token when they have it. This process then works about as much
// as the pass-through does: on few cores the ratio of throughput errs towards 1, the one of CPU does not.
const fast = await startProviders(
  { chat: { vendor: 'openai' }, messages: { vendor: 'anthropic' } },
  { lean: { words: 200, eventsPerWrite: 1 } },
);
const slow = await startProviders({ slow: { vendor: 'openai' } }, { isStrict: false });
const repeat = slowStreamMs / slowGapMs;
slow.control.script('slow', [
  {
    status: 200,
    sse: [
      'ROLE',
      { repeat, steps: ['T:word ', `SLEEP:${slowGapMs}`] },
      'FIN:stop',
      'USAGE:10:20',
      'DONE',
    ],
  },
]);

const facts: UpstreamFacts = {
  chatOrigin: fast.providers.chat.origin,
  messagesOrigin: fast.providers.messages.origin,
  slowOrigin: slow.providers.slow.origin,
};
process.send?.(facts);
process.on('disconnect', () => process.exit(0));
