/** Named starting points for `retry`: an explicit field wins over the preset's, which wins over the default. */
import { isJsonObject, property } from '../../base/json.ts';

export const retryPresets = {
  full: { jitter: 'full', base: '500ms', mult: 2, cap: '30s', attempts: 4 },
  decorrelated: { jitter: 'decorrelated', base: '1s', cap: '30s', attempts: 4 },
  proportional: { jitter: 'proportional', base: '1s', mult: 2, cap: '30s', attempts: 6 },
  guide: { jitter: 'full', base: '1s', mult: 2, cap: '60s', attempts: 6 },
  interactive: { base: '100ms', cap: '5s', attempts: 3 },
  batch: { base: '5s', cap: '120s', attempts: 6 },
} as const;

export const retryPresetNames = Object.keys(retryPresets) as readonly (keyof typeof retryPresets)[];

/** `retry` with its preset's fields under its own; anything that is not one is left to the schema. */
export function withRetryPreset(retry: unknown): unknown {
  const preset = property(retry, 'preset');
  if (!isJsonObject(retry) || typeof preset !== 'string') return retry;
  if (!Object.hasOwn(retryPresets, preset)) return retry;
  return { ...retryPresets[preset as keyof typeof retryPresets], ...retry };
}
