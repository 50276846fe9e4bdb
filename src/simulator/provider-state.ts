/** What changes about one provider while the simulation runs. */
import { createHash } from 'node:crypto';
import type { ParsedCall } from './script/scripted-call.ts';
import type { Vendor } from './vendors/vendor.ts';

export type ProviderState = {
  readonly name: string;
  readonly vendor: Vendor;
  /** Null = it answers by itself. */
  script: readonly ParsedCall[] | null;
  /** Generation requests answered by the script so far. */
  scriptedCalls: number;
  /** Generation requests received. */
  calls: number;
  /** Requests of any kind received, `/_sim` left out. */
  requests: number;
  openRequests: number;
  /** Close a connection this long after its last answer; null = keep it. */
  idleCloseMs: number | null;
};

export function newProviderState(name: string, vendor: Vendor): ProviderState {
  return {
    name,
    vendor,
    script: null,
    scriptedCalls: 0,
    calls: 0,
    requests: 0,
    openRequests: 0,
    idleCloseMs: null,
  };
}

/** The script's call for the next request; the last one repeats. Counts from 1. */
export function nextScriptedCall(
  state: ProviderState,
): { readonly call: ParsedCall; readonly number: number } | null {
  const { script } = state;
  const call = script?.[Math.min(state.scriptedCalls, script.length - 1)];
  if (call === undefined) return null;
  state.scriptedCalls += 1;
  return { call, number: state.scriptedCalls };
}

/** 24 hex digits that differ per seed, provider, request and part, and replay with them. */
export function stableHex(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join(':')).digest('hex').slice(0, 24);
}
