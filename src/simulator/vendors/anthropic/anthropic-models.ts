/** What differs between generations of Claude models. Unknown names count as the newest. */

/** From a name such as `claude-sonnet-4-5-20250929` or `claude-3-7-sonnet-latest`; null = unknown form. */
export function claudeGeneration(model: string): number | null {
  const modern = /^claude-[a-z]+-(\d)(?:-(\d)(?!\d))?/.exec(model);
  const old = /^claude-(\d)(?:-(\d)(?!\d))?/.exec(model);
  const match = modern ?? old;
  if (match === null) return null;
  return Number(match[1]) + Number(match[2] ?? 0) / 10;
}

/** Whether an assistant turn at the end is refused instead of continued. */
export function refusesPrefill(model: string): boolean {
  return (claudeGeneration(model) ?? 0) >= 4.6;
}

/** Whether only default sampling is taken. */
export function refusesSampling(model: string): boolean {
  return (claudeGeneration(model) ?? 0) > 4.6;
}

/** Whether temperature and top_p exclude each other. */
export function refusesBothSamplings(model: string): boolean {
  return (claudeGeneration(model) ?? 0) >= 4.1;
}
