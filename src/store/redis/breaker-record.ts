/** Between the breakers' port and what the scripts take and return. What comes back is checked. */
import type {
  FleetRecord,
  FleetState,
  WriteAnswer,
} from '../../resilience/breaker/breaker-fleet.ts';
import { numberMax } from './breaker-scripts.ts';

/** No period that a server tells of is believed to be longer. */
const periodMsMax = 86_400_000;
const levelMax = 64;
const reasonCharactersMax = 200;
/** Whatever was known of a target before is older than this. */
const noRecord: FleetRecord = { generation: 0, state: null, probeElsewhereMs: null };

/** The arguments of the write script after the generation. */
export function encodeState(state: FleetState): readonly string[] {
  const isOpen = state.kind === 'open';
  const span = isOpen ? state.leftMs : state.sinceMs;
  return [
    state.kind,
    wholeText(span),
    wholeText(state.level),
    wholeText(isOpen ? state.leaseMs : 0),
    isOpen ? state.reason.slice(0, reasonCharactersMax) : '',
  ];
}

export function wholeText(number: number): string {
  return String(Math.min(Math.max(0, Math.ceil(number)), numberMax));
}

/** Null = this is no answer of the script. */
export function decodeRecords(
  value: unknown,
  count: number,
  instance: string,
): readonly FleetRecord[] | null {
  if (!Array.isArray(value) || value.length !== count) return null;
  const records = value.map((item) => decodeRecord(item, instance));
  const read = records.filter((record) => record !== null);
  return read.length === count ? read : null;
}

export function wholeNumber(value: unknown): number | null {
  return isWhole(value) ? value : null;
}

export function decodeRecord(value: unknown, instance: string): FleetRecord | null {
  if (!Array.isArray(value) || value.length !== 9) return null;
  const [generation, kind, ageMs, spanMs, level, leaseMs, reason, holder, heldMs] = value;
  const numbers = [generation, ageMs, spanMs, level, leaseMs, heldMs];
  if (!numbers.every(isWhole) || typeof holder !== 'string') return null;
  const isElsewhere = holder !== '' && holder !== instance && heldMs > 0;
  const probeElsewhereMs = isElsewhere ? Math.min(heldMs, periodMsMax) : null;
  const state = stateOf({ kind, ageMs, spanMs, level, leaseMs, reason });
  return state === null
    ? { ...noRecord, probeElsewhereMs }
    : { generation, state, probeElsewhereMs };
}

function stateOf(told: {
  readonly kind: unknown;
  readonly ageMs: number;
  readonly spanMs: number;
  readonly level: number;
  readonly leaseMs: number;
  readonly reason: unknown;
}): FleetState | null {
  const level = Math.min(told.level, levelMax);
  const { ageMs, spanMs } = told;
  switch (told.kind) {
    case 'closed':
      return { kind: 'closed', sinceMs: spanMs + ageMs, level };
    case 'open': {
      const leftMs = Math.min(Math.max(0, spanMs - ageMs), periodMsMax);
      const leaseMs = Math.min(told.leaseMs, periodMsMax);
      return { kind: 'open', leftMs, level, leaseMs, reason: reasonOf(told.reason) };
    }
    default:
      return null;
  }
}

/** It is shown to operators: one line of plain text. */
function reasonOf(told: unknown): string {
  const text = typeof told === 'string' ? told : '';
  const plain = text.slice(0, reasonCharactersMax).replace(/[^\x20-\x7e]+/g, ' ');
  return plain.trim() === '' ? 'no reason was told' : plain;
}

export function decodeWritten(value: unknown, instance: string): WriteAnswer | null {
  if (!Array.isArray(value)) return null;
  const [isWritten, told] = value;
  if (isWritten === 1) return isWhole(told) ? { kind: 'written', generation: told } : null;
  return moved(told, instance);
}

export type ClaimReply =
  | { readonly kind: 'granted'; readonly forMs: number }
  | { readonly kind: 'elsewhere'; readonly forMs: number }
  | { readonly kind: 'moved'; readonly record: FleetRecord };

export function decodeClaimed(value: unknown, instance: string): ClaimReply | null {
  if (!Array.isArray(value)) return null;
  const [code, told] = value;
  if (code === 2) return moved(told, instance);
  if (!isWhole(told)) return null;
  const forMs = Math.min(told, periodMsMax);
  return { kind: code === 1 ? 'granted' : 'elsewhere', forMs };
}

function moved(told: unknown, instance: string) {
  const record = decodeRecord(told, instance);
  return record === null ? null : ({ kind: 'moved', record } as const);
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= numberMax + 1e6;
}
