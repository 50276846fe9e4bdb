/** The smallest valid request of each vendor, and where it goes. */
import type { UpstreamName } from '../../support/simulated-upstream.ts';

export type ValidRequest = {
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: { readonly [name: string]: unknown };
};

export const chatRequest: ValidRequest = {
  path: '/chat/completions',
  headers: { authorization: 'Bearer test-key' },
  body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] },
};

export const messagesRequest: ValidRequest = {
  path: '/v1/messages',
  headers: { 'x-api-key': 'test-key', 'anthropic-version': '2023-06-01' },
  body: {
    model: 'claude-sonnet-4-5',
    max_tokens: 200,
    messages: [{ role: 'user', content: 'hi' }],
  },
};

export const generateRequest: ValidRequest = {
  path: '/v1beta/models/gemini-2.5-flash:generateContent',
  headers: { 'x-goog-api-key': 'test-key' },
  body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
};

export const validRequests = {
  p1: chatRequest,
  p2: messagesRequest,
  p3: generateRequest,
} satisfies { readonly [name in Extract<UpstreamName, 'p1' | 'p2' | 'p3'>]: ValidRequest };

export type Asked = keyof typeof validRequests;

/** The same request as a stream. */
export function streamed(name: Asked): ValidRequest {
  const request = validRequests[name];
  if (name !== 'p3') return { ...request, body: { ...request.body, stream: true } };
  return { ...request, path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse' };
}
