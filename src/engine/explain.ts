/** What would happen to a request now, found out by the code that serves it; nothing is sent and nothing changes. */
import { append } from '../base/append.ts';
import type { ChatRequest } from '../chat/request.ts';
import type { SystemSplice } from '../dialects/dialect.ts';
import { candidatesOf } from './candidate-of.ts';
import type { CandidateState } from './candidate-state.ts';
import type { EngineRequest } from './engine-request.ts';
import { writeCall } from './prepare.ts';
import type { Skip } from './trace.ts';

export type ExplainedCandidate = {
  readonly target: string;
  /** The prompt variant's identity. */
  readonly variant: string | null;
  /** The leading system text with the variant around the caller's own; null = there is none. */
  readonly renderedSystem: string | null;
  /** What the target's dialect cannot carry and only tunes. */
  readonly dropped: readonly string[];
};

export type Explanation = {
  /** In the order in which they would be asked. */
  readonly candidates: readonly ExplainedCandidate[];
  readonly skipped: readonly Skip[];
};

export function explain(
  request: EngineRequest,
  ports: Parameters<typeof candidatesOf>[1],
): Explanation {
  const planned = candidatesOf(request, ports);
  const candidates: ExplainedCandidate[] = [];
  const skipped: Skip[] = [...planned.skipped];
  for (const candidate of planned.candidates) {
    const judged = judge(request, candidate);
    if ('reason' in judged) skipped.push(judged);
    else if (request.isFailoverOff && candidates.length > 0) {
      skipped.push({ target: judged.target, reason: 'failover_off' });
    } else candidates.push(judged);
  }
  return { candidates, skipped };
}

function judge(request: EngineRequest, candidate: CandidateState): ExplainedCandidate | Skip {
  const { target } = candidate;
  const obstacle = candidate.obstacle();
  if (obstacle !== null) return { target: target.id, reason: obstacle.reason };
  const written = writeCall(request, target, candidate.pickKey()?.alias ?? null);
  if (written.kind !== 'written') return { target: target.id, reason: written.kind };
  return {
    target: target.id,
    variant: target.variant?.identity ?? null,
    renderedSystem: systemText(request.chat, written.system),
    dropped: written.encoded.dropped,
  };
}

/** The dialects send these as blocks of their own, in this order. */
function systemText({ messages }: ChatRequest, splice: SystemSplice | null): string | null {
  const leading: string[] = [];
  for (const message of messages) {
    if (message.role !== 'system') break;
    append(
      leading,
      message.content.map(({ text }) => text),
    );
  }
  const blocks = [splice?.before ?? '', ...leading, splice?.after ?? ''];
  const filled = blocks.filter((text) => text !== '');
  return filled.length === 0 ? null : filled.join('\n\n');
}
