/** Amazon Bedrock's Converse API, as `https://bedrock-runtime.{region}.amazonaws.com` serves it. */
import type { RequestHead, Route, Vendor } from '../vendor.ts';
import { authFault } from './bedrock-auth.ts';
import {
  bedrockErrorBody,
  bedrockErrorEvent,
  bedrockFault,
  bedrockPlainFault,
} from './bedrock-faults.ts';
import { garbledFrame } from './bedrock-frames.ts';
import { readConverseBody } from './bedrock-read.ts';
import { converseFault } from './bedrock-rules.ts';
import { bedrockFrames, bedrockStreamWriter, bedrockWhole } from './bedrock-write.ts';

export const bedrockVendor: Vendor = {
  name: 'bedrock',
  label: 'Bedrock',
  basePath: '',
  eol: '\n',
  settings: { region: 'us-east-1' },
  binaryStreams: { contentType: 'application/vnd.amazon.eventstream', garbled: garbledFrame },
  modelNames: ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us.amazon.nova-2-lite-v1:0'],
  route,
  authorize: authFault,
  validate: converseFault,
  read: readConverseBody,
  fault: bedrockFault,
  plainFault: bedrockPlainFault,
  errorBody: bedrockErrorBody,
  errorEvent: bedrockErrorEvent,
  replyHeaders: ({ requestId }) => ({ 'x-amzn-requestid': requestId }),
  wholeBody: bedrockWhole,
  frames: bedrockFrames,
  streamWriter: bedrockStreamWriter,
  countBody: (inputTokens) => JSON.stringify({ inputTokens }),
  modelsBody: () => null,
  messageId: (hex) => hex,
  callId: (hex) => `tooluse_${hex.slice(0, 22)}`,
};

/** A model is one segment of the path, however it is encoded. */
function route({ method, path }: RequestHead): Route | null {
  const match = /^\/model\/([^/]+)\/(converse|converse-stream)$/.exec(path);
  const model = decoded(match?.[1] ?? '');
  if (method !== 'POST' || match === null || model === null) return null;
  const isStream = match[2] === 'converse-stream';
  return { operation: 'generate', model, isStream, isArray: false };
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
