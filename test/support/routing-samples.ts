/** A small sound document, and what it takes to judge and bind it. */
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { success } from '../../src/base/result.ts';
import type { UpstreamDialect } from '../../src/dialects/dialect.ts';
import { type BindProvider, createProviderBinder } from '../../src/providers/bind.ts';
import type { ConfigFault } from '../../src/routing/document/config-fault.ts';
import {
  type ValidationContext,
  type ValidDocument,
  validateDocument,
} from '../../src/routing/validate.ts';
import { noTransport } from './no-transport.ts';

export const noPrompts: ValidationContext = {
  variants: new Map(),
  resolveSecret: () => 'resolved',
};

/** A document with one tier `fast`; `tier` is laid over it. */
export function sampleDocument(tier: JsonObject = {}, rest: JsonObject = {}): JsonObject {
  return {
    providers: {
      p1: { kind: 'openai', api_keys: ['env:P1_KEY'] },
      p2: { kind: 'anthropic', api_keys: ['env:P2_KEY'] },
    },
    tiers: {
      fast: {
        targets: [
          { provider: 'p1', model: 'gpt-5.4-mini' },
          { provider: 'p2', model: 'claude-sonnet-4-5' },
        ],
        ...tier,
      },
    },
    ...rest,
  };
}

/** The faults of a document that must be refused, as `path: message`. */
export function faultsOf(document: unknown, context = noPrompts): readonly string[] {
  const judged = validateDocument(document, context);
  if (judged.ok) throw new Error('the document was accepted');
  return judged.fault.faults.map(line);
}

/** The values of a document that must be accepted. */
export function accepted(document: unknown, context = noPrompts): ValidDocument {
  const judged = validateDocument(document, context);
  if (!judged.ok) throw new Error(judged.fault.faults.map(line).join('\n'));
  return judged.value;
}

export function warningsOf(document: unknown, context = noPrompts): readonly string[] {
  return accepted(document, context).warnings.map(line);
}

function line(fault: ConfigFault): string {
  return `${fault.path}: ${fault.message}`;
}

/** A dialect that is only a name: binding does not use it. */
export function namedDialect(name: string): UpstreamDialect {
  return {
    name,
    missingAbility: () => null,
    encodeCall: () => success({ body: '', dropped: [] }),
    decodeReply: () => [],
    streamDecoder: () => ({ push: () => [], end: () => [] }),
    readError: () => ({
      status: null,
      code: null,
      type: null,
      param: null,
      message: '',
      reasons: [],
      upstreamRequestId: null,
      isKnownShape: false,
    }),
    rules: [],
    hints: { limits: [], bodyDelay: () => null },
  };
}

export const bindWithNamedDialects: BindProvider = createProviderBinder({
  dialectByName: namedDialect,
  resolveSecret: () => 'resolved',
  clock: systemClock,
  transport: noTransport,
});
