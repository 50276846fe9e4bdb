import { describe, expect, it } from 'vitest';
import { type ChatRequest, noParameters } from '../../../src/chat/request.ts';
import { estimateInputTokens } from '../../../src/chat/token-estimate.ts';

const empty: ChatRequest = {
  model: 'fast',
  messages: [],
  tools: [],
  providerTools: [],
  toolChoice: null,
  parameters: noParameters,
  isStream: false,
  includeUsage: false,
  otherFields: [],
  original: { dialect: 'any', bytes: Buffer.alloc(0), json: {} },
};

function said(text: string): ChatRequest {
  const content = [{ type: 'text', text }] as const;
  return { ...empty, messages: [{ role: 'user', name: null, content }] };
}

describe('the estimate of input tokens', () => {
  it('is at least one, and grows with the text by its bytes', () => {
    expect(estimateInputTokens(empty)).toBe(1);
    expect(estimateInputTokens(said('a'.repeat(400)))).toBe(104);
    expect(estimateInputTokens(said('字'.repeat(400)))).toBe(304);
  });

  it('counts tools with their schemas, calls and media', () => {
    const tool = {
      name: 'look',
      description: 'looks',
      parameters: { type: 'object' },
      strict: null,
    };
    expect(estimateInputTokens({ ...empty, tools: [tool] })).toBeGreaterThan(8);
    const source = { kind: 'url', url: 'https://example.com/a.png' } as const;
    const image = { type: 'image', source, detail: null } as const;
    const shown: ChatRequest = {
      ...empty,
      messages: [{ role: 'user', name: null, content: [image] }],
    };
    expect(estimateInputTokens(shown)).toBeGreaterThan(1000);
    const call = { type: 'tool_call', id: 'c', name: 'look', arguments: '{"at":"it"}' } as const;
    const called: ChatRequest = { ...empty, messages: [{ role: 'assistant', content: [call] }] };
    expect(estimateInputTokens(called)).toBeGreaterThan(6);
  });
});
