import { describe, expect, it } from 'vitest';
import { type ChatRequest, noParameters } from '../../../src/chat/request.ts';
import { estimateInputTokens, isSurelyLonger } from '../../../src/chat/token-estimate.ts';

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

describe('a request is surely longer than a window', () => {
  const shown = (text: string, bytes: number): ChatRequest => ({
    ...said(text),
    original: { dialect: 'any', bytes: Buffer.alloc(bytes), json: {} },
  });

  it.each([
    ['when its text is eight bytes a token and one more', 'a'.repeat(801), 900, true],
    ['not when it may just fit', 'a'.repeat(800), 900, false],
    ['by bytes, not by letters', '\u5b57'.repeat(267), 900, true],
    ['not for what is no text', 'a', 1_000_000, false],
  ])('%s', (_, text, bytes, isLonger) => {
    expect(isSurelyLonger(shown(text, bytes), 100)).toBe(isLonger);
  });

  it('whose body is short is not looked through', () => {
    const request = shown('', 800);
    Object.defineProperty(request, 'messages', {
      get: () => {
        throw new Error('looked through');
      },
    });
    expect(isSurelyLonger(request, 100)).toBe(false);
  });
});
