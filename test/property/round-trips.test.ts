/** A conversation, written for a dialect and read back as one of its clients' would be, says the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../src/chat/request.ts';
import type { UpstreamDialect } from '../../src/dialects/dialect.ts';
import { clientDialects, upstreamDialects } from '../../src/dialects/registry.ts';
import { anthropicVendor } from '../../src/simulator/vendors/anthropic/anthropic-vendor.ts';
import { bedrockVendor } from '../../src/simulator/vendors/bedrock/bedrock-vendor.ts';
import { geminiVendor } from '../../src/simulator/vendors/gemini/gemini-vendor.ts';
import { openaiVendor } from '../../src/simulator/vendors/openai/openai-vendor.ts';
import { type Vendor, wireOf } from '../../src/simulator/vendors/vendor.ts';
import { conversations, gist } from '../support/conversations.ts';
import { effort } from '../support/effort.ts';
import { readConverse } from '../support/read-converse.ts';

const numRuns = effort(300, 10_000);

/** One of each dialect that takes all that a conversation here holds. */
const models: { readonly [dialect: string]: string } = {
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-flash',
  'bedrock-converse': 'anthropic.claude-sonnet-4-5-20250929-v1:0',
};

function written(dialect: UpstreamDialect, request: ChatRequest): Buffer {
  const encoded = dialect.encodeCall({
    request,
    model: models[dialect.name] ?? 'gpt-4.1',
    isStream: request.isStream,
    system: null,
    parameters: request.parameters,
    ownedParameters: [],
    extraFields: {},
    toolDescriptions: {},
    maxOutputTokens: 64_000,
    isReasoningModel: false,
  });
  if (!encoded.ok) throw new Error(encoded.fault.message);
  return Buffer.from(encoded.value.body);
}

/** How the service of each dialect judges a body. */
const judges: { readonly [dialect: string]: { readonly vendor: Vendor; readonly path: string } } = {
  'openai-chat': { vendor: openaiVendor, path: '/v1/chat/completions' },
  'openai-responses': { vendor: openaiVendor, path: '/v1/responses' },
  'anthropic-messages': { vendor: anthropicVendor, path: '/v1/messages' },
  gemini: { vendor: geminiVendor, path: '/v1beta/models/gemini-2.5-flash:generateContent' },
  'bedrock-converse': {
    vendor: bedrockVendor,
    path: `/model/${encodeURIComponent(models['bedrock-converse'] ?? '')}/converse`,
  },
};

function complaint(dialect: string, body: Buffer): unknown {
  const judge = judges[dialect];
  const headers = { 'anthropic-version': '2023-06-01' };
  const head = { method: 'POST', path: judge?.path ?? '', query: new URLSearchParams(), headers };
  const vendor = judge && wireOf(judge.vendor, head);
  const route = vendor?.route(head) ?? null;
  if (vendor === undefined || route === null) throw new Error(`nobody judges ${dialect}`);
  return vendor.validate(JSON.parse(body.toString()), route, head);
}

describe.each([...upstreamDialects.values()])('a body for $name', (upstream) => {
  it('is one that its service takes', () => {
    fc.assert(
      fc.property(conversations, (request) => {
        expect(complaint(upstream.name, written(upstream, request))).toBeNull();
      }),
      { numRuns },
    );
  });
});

function readBack(dialect: string, body: Buffer): ChatRequest {
  if (dialect === 'bedrock-converse') return readConverse(body);
  const decoded = clientDialects.get(dialect)?.decodeRequest(body);
  if (decoded?.ok !== true) throw new Error(decoded?.fault.message ?? `nobody reads ${dialect}`);
  return decoded.value.request;
}

/** What a dialect has no word for, as it is written there. */
function asWritten(dialect: string, request: ChatRequest): ChatRequest {
  if (dialect !== 'bedrock-converse' || request.toolChoice?.mode !== 'none') return request;
  const hasCalled = request.messages.some(({ role }) => role === 'tool');
  return { ...request, toolChoice: null, tools: hasCalled ? request.tools : [] };
}

describe.each([...upstreamDialects.values()])('through $name', (upstream) => {
  it('a conversation comes back as it was', () => {
    fc.assert(
      fc.property(conversations, (request) => {
        // What a dialect has no word for is asked of another target.
        fc.pre(upstream.missingAbility(request) === null);
        const read = readBack(upstream.name, written(upstream, request));
        expect(gist(read)).toEqual(gist(asWritten(upstream.name, request)));
      }),
      { numRuns },
    );
  });
});
