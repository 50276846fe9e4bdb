/**
 * The breaker as a pure machine: the reference that the in-memory breaker is tested against, and what a
 * breaker shared by a fleet would run. The window of marks stays outside; it says `isTripped`.
 */
import type { Random } from '../../base/random.ts';
import { unreachable } from '../../base/unreachable.ts';
import type { BreakerPolicy, BreakerView } from './breaker.ts';
import {
  failedProbeReason,
  levelAfterFailedProbe,
  levelAfterTrip,
  openPeriodMs,
  probeLeaseMs,
  tripReason,
} from './open-period.ts';
import type { Mark, Ticket } from './permit.ts';
import { freeSlot, isFree, openedUntilMs, type ProbeSlot, release, take } from './probe-slot.ts';

/** `epoch` rises with each change of state; `level` is the rung of the open period's ladder. */
export type BreakerMachine =
  | {
      readonly kind: 'closed';
      readonly epoch: number;
      readonly level: number;
      /** Null = it never was open. */
      readonly closedAtMs: number | null;
    }
  | {
      readonly kind: 'open';
      readonly epoch: number;
      readonly level: number;
      readonly untilMs: number;
      readonly leaseMs: number;
      readonly reason: string;
    }
  | {
      readonly kind: 'half_open';
      readonly epoch: number;
      readonly level: number;
      readonly slot: ProbeSlot;
      readonly leaseMs: number;
      readonly reason: string;
    };

export const closedBreaker: BreakerMachine = {
  kind: 'closed',
  epoch: 0,
  level: 0,
  closedAtMs: null,
};

/** The machine as of `nowMs`: an open period that is over is half-open. */
export function breakerAt(machine: BreakerMachine, nowMs: number): BreakerMachine {
  if (machine.kind !== 'open' || nowMs < machine.untilMs) return machine;
  const { level, leaseMs, reason } = machine;
  return { kind: 'half_open', epoch: machine.epoch + 1, level, leaseMs, reason, slot: freeSlot };
}

/** Lets a request through, or not: then `retryAtMs` says when to ask again at the latest. */
export function admitRequest(
  machine: BreakerMachine,
  nowMs: number,
): {
  readonly machine: BreakerMachine;
  readonly ticket: Ticket | null;
  readonly retryAtMs: number | null;
} {
  switch (machine.kind) {
    case 'closed':
      return { machine, ticket: { epoch: machine.epoch, probe: null }, retryAtMs: null };
    case 'open':
      return { machine, ticket: null, retryAtMs: machine.untilMs };
    case 'half_open': {
      if (!isFree(machine.slot, nowMs)) {
        return { machine, ticket: null, retryAtMs: machine.slot.heldUntilMs };
      }
      const slot = take(machine.slot, nowMs, machine.leaseMs);
      const ticket = { epoch: machine.epoch, probe: slot.newest };
      return { machine: { ...machine, slot }, ticket, retryAtMs: null };
    }
    default:
      return unreachable(machine);
  }
}

/** The machine after a mark; one of an attempt begun in an older state changes nothing. */
export function judgeMark(
  machine: BreakerMachine,
  judged: {
    readonly ticket: Ticket;
    readonly mark: Mark;
    readonly isTripped: boolean;
    readonly nowMs: number;
    readonly policy: BreakerPolicy;
    readonly random: Random;
  },
): BreakerMachine {
  const { nowMs, policy, random } = judged;
  if (judged.ticket.epoch !== machine.epoch || machine.kind === 'open') return machine;
  const epoch = machine.epoch + 1;
  if (machine.kind === 'closed') {
    if (judged.mark !== 'failure' || !judged.isTripped) return machine;
    const level = levelAfterTrip(machine.level, machine.closedAtMs, nowMs, policy);
    const periodMs = openPeriodMs(level, policy, random);
    const reason = tripReason(policy);
    const leaseMs = probeLeaseMs(periodMs, policy);
    return { kind: 'open', epoch, level, leaseMs, untilMs: nowMs + periodMs, reason };
  }
  switch (judged.mark) {
    case 'success':
      return { kind: 'closed', epoch, level: machine.level, closedAtMs: nowMs };
    case 'failure': {
      const level = levelAfterFailedProbe(machine.level, policy);
      const periodMs = openPeriodMs(level, policy, random);
      const untilMs = openedUntilMs(machine.slot, nowMs, periodMs);
      const leaseMs = probeLeaseMs(periodMs, policy);
      return { kind: 'open', epoch, level, leaseMs, untilMs, reason: failedProbeReason };
    }
    case 'none':
      return { ...machine, slot: release(machine.slot, judged.ticket.probe) };
    default:
      return unreachable(judged.mark);
  }
}

/** What the outside sees at `nowMs`. */
export function viewOf(machine: BreakerMachine, nowMs: number): BreakerView {
  const now = breakerAt(machine, nowMs);
  switch (now.kind) {
    case 'closed':
      return { state: 'closed', reason: null, nextProbeAtMs: null, isAdmitting: true };
    case 'open':
      return {
        state: 'open',
        reason: now.reason,
        nextProbeAtMs: now.untilMs,
        isAdmitting: false,
      };
    case 'half_open':
      return {
        state: 'half_open',
        reason: now.reason,
        nextProbeAtMs: null,
        isAdmitting: isFree(now.slot, nowMs),
      };
    default:
      return unreachable(now);
  }
}
