import { describe, expect, it } from 'vitest';
import { LatencyRecord } from '../../../src/resilience/latency.ts';

describe('latency record', () => {
  it('knows nothing from 19 successes and everything from 20', () => {
    const latency = new LatencyRecord();
    for (let index = 1; index <= 19; index += 1) latency.record('streamed', index * 10, 0);
    expect(latency.percentiles('streamed', 0)).toBeNull();
    latency.record('streamed', 200, 0);
    expect(latency.percentiles('streamed', 0)).toEqual({
      count: 20,
      p10Ms: 20,
      p50Ms: 100,
      p95Ms: 190,
      p99Ms: 200,
    });
    expect(latency.percentiles('whole', 0)).toBeNull();
  });

  it('forgets what is older than ten minutes', () => {
    const latency = new LatencyRecord();
    for (let index = 0; index < 20; index += 1) latency.record('whole', 5, index < 10 ? 0 : 1_000);
    expect(latency.percentiles('whole', 600_000)?.count).toBe(20);
    expect(latency.percentiles('whole', 601_001)).toBeNull();
  });

  it('keeps the newest 512', () => {
    const latency = new LatencyRecord();
    for (let index = 0; index < 1_000; index += 1) latency.record('streamed', index, index);
    expect(latency.percentiles('streamed', 2_000)).toMatchObject({ count: 512, p10Ms: 539 });
  });

  it('shows new samples within a second', () => {
    const latency = new LatencyRecord();
    for (let index = 0; index < 20; index += 1) latency.record('streamed', 100, 0);
    expect(latency.percentiles('streamed', 0)?.p50Ms).toBe(100);
    for (let index = 0; index < 80; index += 1) latency.record('streamed', 900, 500);
    expect(latency.percentiles('streamed', 999)?.p50Ms).toBe(100);
    expect(latency.percentiles('streamed', 1_000)?.p50Ms).toBe(900);
  });
});
