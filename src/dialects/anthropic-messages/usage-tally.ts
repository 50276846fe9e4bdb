/** Token counts as this dialect tells them over a stream: cumulative, field by field, cache apart from input. */
import { arrayAt, objectAt, property } from '../../base/json.ts';
import { tokenCount, type Usage } from '../../chat/usage.ts';

type Counts = {
  readonly input: number | null;
  readonly cacheWrite: number | null;
  readonly cacheRead: number | null;
  readonly output: number | null;
  readonly thinking: number | null;
};

const unknownCounts: Counts = {
  input: null,
  cacheWrite: null,
  cacheRead: null,
  output: null,
  thinking: null,
};

/** Iterations summed at most; a message has a handful. */
const iterationsMax = 1000;

export class UsageTally {
  #counts: Counts = unknownCounts;
  #iterations: Counts | null = null;

  /** Takes each field that `usage` states; nothing is added up. */
  update(usage: unknown): void {
    this.#counts = merge(this.#counts, countsOf(usage));
    const iterations = arrayAt(usage, 'iterations').slice(0, iterationsMax);
    if (iterations.length > 0) this.#iterations = iterations.map(countsOf).reduce(sum);
  }

  /** Totals. Where the answer took several rounds, the top level tells the last one only: then their sum. */
  usage(): Usage {
    const counts = this.#iterations ?? this.#counts;
    const inputs = [counts.input, counts.cacheWrite, counts.cacheRead];
    return {
      inputTokens:
        counts.input === null ? null : inputs.reduce<number>((all, each) => all + (each ?? 0), 0),
      outputTokens: counts.output,
      cachedTokens: counts.cacheRead,
      cacheWriteTokens: counts.cacheWrite,
      reasoningTokens: counts.thinking ?? this.#counts.thinking,
    };
  }
}

function countsOf(usage: unknown): Counts {
  return {
    input: countAt(usage, 'input_tokens'),
    cacheWrite: countAt(usage, 'cache_creation_input_tokens'),
    cacheRead: countAt(usage, 'cache_read_input_tokens'),
    output: countAt(usage, 'output_tokens'),
    thinking: countAt(objectAt(usage, 'output_tokens_details'), 'thinking_tokens'),
  };
}

function countAt(value: unknown, key: string): number | null {
  return tokenCount(property(value, key));
}

function merge(before: Counts, now: Counts): Counts {
  return {
    input: now.input ?? before.input,
    cacheWrite: now.cacheWrite ?? before.cacheWrite,
    cacheRead: now.cacheRead ?? before.cacheRead,
    output: now.output ?? before.output,
    thinking: now.thinking ?? before.thinking,
  };
}

function sum(one: Counts, other: Counts): Counts {
  return {
    input: add(one.input, other.input),
    cacheWrite: add(one.cacheWrite, other.cacheWrite),
    cacheRead: add(one.cacheRead, other.cacheRead),
    output: add(one.output, other.output),
    thinking: add(one.thinking, other.thinking),
  };
}

function add(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}
