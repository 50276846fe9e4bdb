import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { mayWrite } from '../../../src/engine/provider-tools.ts';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
} from '../../support/engine-harness.ts';

const user = { role: 'user', content: 'hi' };
const bodies: { readonly [dialect: string]: JsonObject } = {
  'openai-chat': { model: 'm', messages: [user] },
  'openai-responses': { model: 'm', input: 'hi' },
  'anthropic-messages': { model: 'm', max_tokens: 9, messages: [user] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
};

function isWriting(dialect: string, fields: JsonObject): boolean {
  const client = clientDialects.get(dialect);
  const upstream = upstreamDialects.get(dialect);
  if (client === undefined || upstream === undefined) throw new Error(dialect);
  const decoded = client.decodeRequest(
    Buffer.from(JSON.stringify({ ...bodies[dialect], ...fields })),
  );
  if (!decoded.ok) throw new Error(decoded.fault.message);
  const provider = plainProvider('p1', { dialect: upstream });
  const target = plainTarget('p1', { provider });
  const harness = new EngineHarness(plainTier([target]), () => ok());
  return mayWrite({ ...harness.request(), chat: decoded.value.request }, target);
}

const mcpServer = { type: 'url', url: 'https://tools.example/mcp', name: 'notes' };

describe('what may write at the provider', () => {
  it.each([
    ['openai-responses', { tools: [{ type: 'mcp', server_label: 'x', server_url: 'https://x' }] }],
    ['openai-responses', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
    ['openai-responses', { tools: [{ type: 'shell' }] }],
    [
      'anthropic-messages',
      { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
    ],
    ['anthropic-messages', { tools: [{ type: 'mcp_toolset', mcp_server_name: 'notes' }] }],
    ['anthropic-messages', { mcp_servers: [mcpServer] }],
    ['gemini', { tools: [{ codeExecution: {} }] }],
    ['gemini', { tools: [{ code_execution: {} }] }],
  ] as const)('%s: %j', (dialect, fields) => {
    expect(isWriting(dialect, fields)).toBe(true);
  });

  it.each([
    ['openai-chat', { web_search_options: {} }],
    ['openai-responses', { tools: [{ type: 'web_search' }], metadata: { a: 'b' } }],
    ['anthropic-messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['anthropic-messages', { mcp_servers: [], metadata: { user_id: 'u' } }],
    ['gemini', { tools: [{ googleSearch: {} }] }],
  ] as const)('not %s: %j', (dialect, fields) => {
    expect(isWriting(dialect, fields)).toBe(false);
  });
});
