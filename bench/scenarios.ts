/** What is measured, and what each may cost against the bare pass-through (ARCHITECTURE.md, Cost). */

export type Scenario = {
  readonly name: string;
  /** The tier asked for: `same` answers in the client's dialect, `translated` in another. */
  readonly tier: 'same' | 'translated';
  readonly isStream: boolean;
  /** Size of the request's text. */
  readonly textBytes: number;
  readonly concurrency: number;
  /** The least ratio of the gateway's throughput to the yardstick's, and the one aimed at. */
  readonly floor: number;
  readonly aim: number;
};

export const scenarios: readonly Scenario[] = [
  {
    name: 'small JSON',
    tier: 'same',
    isStream: false,
    textBytes: 200,
    concurrency: 32,
    floor: 0.8,
    aim: 1,
  },
  {
    name: '32 kB JSON',
    tier: 'same',
    isStream: false,
    textBytes: 32_000,
    concurrency: 32,
    floor: 0.8,
    aim: 0.8,
  },
  {
    name: '1 MB JSON',
    tier: 'same',
    isStream: false,
    textBytes: 1_000_000,
    concurrency: 8,
    floor: 0.7,
    aim: 0.7,
  },
  {
    name: '200-chunk SSE',
    tier: 'same',
    isStream: true,
    textBytes: 200,
    concurrency: 32,
    floor: 1,
    aim: 1.5,
  },
  {
    name: 'translated JSON',
    tier: 'translated',
    isStream: false,
    textBytes: 200,
    concurrency: 32,
    floor: 0.7,
    aim: 0.7,
  },
];

/** Added median latency at a modest rate, over asking the upstream directly. */
export const addedLatencyMsMax = 0.3;
export const modestPerSecond = 50;

/** Memory for each stream that is open and slow. */
export const bytesPerSlowStreamMax = 64 * 1024;

const sentence = 'The harbour was quiet, and nobody on the quay could say why the ferry was late. ';

/** A conversation of `textBytes` in turns of at most 16 kB, ending in a question. */
export function requestBody(scenario: {
  readonly tier: Scenario['tier'] | 'slow';
  readonly isStream: boolean;
  readonly textBytes: number;
}): string {
  const turnBytes = Math.min(16_000, Math.max(200, Math.floor(scenario.textBytes / 8)));
  const messages: { role: string; content: string }[] = [];
  for (let left = scenario.textBytes; left > 0; left -= turnBytes) {
    const content = sentence.repeat(Math.ceil(Math.min(left, turnBytes) / sentence.length));
    messages.push({ role: messages.length % 2 === 0 ? 'user' : 'assistant', content });
  }
  const last = messages.at(-1);
  const question = 'Why was it late? Answer in 200 words.';
  if (last?.role === 'user') last.content += question;
  else messages.push({ role: 'user', content: question });
  return JSON.stringify({
    model: scenario.tier,
    messages,
    ...(scenario.isStream ? { stream: true } : {}),
  });
}
