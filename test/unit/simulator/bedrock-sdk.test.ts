/** AWS's official client against the simulated Bedrock: what it sends and signs is taken, what it gets is understood. */
import {
  BedrockRuntimeClient,
  BedrockRuntimeServiceException,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleAccessKey } from '../../../src/simulator/vendors/bedrock/bedrock-auth.ts';
import {
  type SimulatedUpstream,
  startSimulatedUpstream,
} from '../../support/simulated-upstream.ts';

let upstream: SimulatedUpstream;
let client: BedrockRuntimeClient;

/** It prefers HTTP/2, which the simulated provider does not speak. */
const common = {
  region: 'eu-central-1',
  maxAttempts: 1,
  requestHandler: new NodeHttpHandler(),
} as const;
const credentials = {
  accessKeyId: exampleAccessKey.id,
  secretAccessKey: exampleAccessKey.secret,
};

beforeAll(async () => {
  upstream = await startSimulatedUpstream();
  client = new BedrockRuntimeClient({ ...common, endpoint: upstream.url('p5'), credentials });
});
beforeEach(() => upstream.control.clear());
afterAll(async () => {
  client.destroy();
  await upstream.close();
});

const modelId = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const messages: ConverseCommandInput['messages'] = [
  { role: 'user', content: [{ text: 'What is the weather in Paris?' }] },
];
const toolConfig: ConverseCommandInput['toolConfig'] = {
  tools: [
    {
      toolSpec: {
        name: 'get_weather',
        inputSchema: {
          json: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    },
  ],
};

async function failure(request: Promise<unknown>): Promise<BedrockRuntimeServiceException> {
  const error = await request.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof BedrockRuntimeServiceException)) throw new Error(`no exception: ${error}`);
  return error;
}

async function streamOf(input: ConverseCommandInput): Promise<readonly ConverseStreamOutput[]> {
  const { stream } = await client.send(new ConverseStreamCommand(input));
  const events: ConverseStreamOutput[] = [];
  for await (const event of stream ?? []) events.push(event);
  return events;
}

describe("AWS's client", () => {
  it('gets a plain answer, with usage and a request id, signed for its region', async () => {
    const answer = await client.send(new ConverseCommand({ modelId, messages }));
    expect(answer.output?.message?.content?.[0]?.text).toContain(
      `simulated answer from Bedrock (${modelId})`,
    );
    expect(answer.stopReason).toBe('end_turn');
    expect(answer.usage?.totalTokens).toBeGreaterThan(10);
    expect(answer.$metadata.requestId).toMatch(/^req_/);
  });

  it('addresses a model by its ARN', async () => {
    const arn =
      'arn:aws:bedrock:eu-central-1:000000000000:inference-profile/us.amazon.nova-2-lite-v1:0';
    const answer = await client.send(new ConverseCommand({ modelId: arn, messages }));
    expect(answer.output?.message?.content?.[0]?.text).toContain(arn);
  });

  it('reads a stream to its end, the usage after the stop', async () => {
    const events = await streamOf({ modelId, messages });
    const names = events.map((event) => Object.keys(event)[0]);
    expect(names[0]).toBe('messageStart');
    expect(names.slice(-3)).toEqual(['contentBlockStop', 'messageStop', 'metadata']);
    const text = events.map((event) => event.contentBlockDelta?.delta?.text ?? '').join('');
    expect(text).toContain('weather in Paris?');
    expect(events.at(-1)?.metadata?.usage?.outputTokens).toBeGreaterThan(10);
  });

  it('goes through a tool call and back, streamed', async () => {
    const events = await streamOf({ modelId, messages, toolConfig });
    const start = events.find((event) => event.contentBlockStart)?.contentBlockStart;
    const input = events
      .map((event) => event.contentBlockDelta?.delta?.toolUse?.input ?? '')
      .join('');
    expect(start?.start?.toolUse?.name).toBe('get_weather');
    expect(JSON.parse(input)).toEqual({ city: 'Paris' });
    const toolUseId = start?.start?.toolUse?.toolUseId;
    const answer = await client.send(
      new ConverseCommand({
        modelId,
        toolConfig,
        messages: [
          ...(messages ?? []),
          {
            role: 'assistant',
            content: [{ toolUse: { toolUseId, name: 'get_weather', input: JSON.parse(input) } }],
          },
          {
            role: 'user',
            content: [{ toolResult: { toolUseId, content: [{ text: '12 degrees' }] } }],
          },
        ],
      }),
    );
    expect(answer.output?.message?.content?.[0]?.text).toContain('12 degrees');
  });

  it('sends an image, a document and a schema', async () => {
    const answer = await client.send(
      new ConverseCommand({
        modelId,
        messages: [
          {
            role: 'user',
            content: [
              { text: 'What is it?' },
              { image: { format: 'png', source: { bytes: Buffer.from('image') } } },
              {
                document: { format: 'txt', name: 'notes', source: { bytes: Buffer.from('text') } },
              },
            ],
          },
        ],
        outputConfig: {
          textFormat: {
            type: 'json_schema',
            structure: {
              jsonSchema: {
                name: 'answer',
                schema: JSON.stringify({
                  type: 'object',
                  properties: { is: { type: 'string' } },
                  required: ['is'],
                  additionalProperties: false,
                }),
              },
            },
          },
        },
      }),
    );
    expect(JSON.parse(answer.output?.message?.content?.[0]?.text ?? '')).toHaveProperty('is');
  });

  it('sends reasoning back as it was signed, and not otherwise', async () => {
    const additionalModelRequestFields = { thinking: { type: 'enabled', budget_tokens: 1024 } };
    const first = await client.send(
      new ConverseCommand({ modelId, messages, additionalModelRequestFields }),
    );
    const content = first.output?.message?.content ?? [];
    expect(content[0]?.reasoningContent?.reasoningText?.signature).toBeTruthy();
    const history = (text: string | undefined) => [
      ...(messages ?? []),
      {
        role: 'assistant' as const,
        content: [
          {
            reasoningContent: {
              reasoningText: { ...content[0]?.reasoningContent?.reasoningText, text },
            },
          },
          { text: 'So.' },
        ],
      },
      { role: 'user' as const, content: [{ text: 'And?' }] },
    ];
    const own = content[0]?.reasoningContent?.reasoningText?.text;
    const ask = (text: string | undefined) =>
      client.send(
        new ConverseCommand({ modelId, messages: history(text), additionalModelRequestFields }),
      );
    expect((await ask(own)).stopReason).toBe('end_turn');
    expect((await failure(ask('Another thought.'))).message).toContain('Invalid `signature`');
  });

  it.each([
    ['overload', 503, 'ServiceUnavailableException'],
    ['rate_limit', 429, 'ThrottlingException'],
    ['permission', 403, 'AccessDeniedException'],
    ['context_length', 400, 'ValidationException'],
    ['server_error', 500, 'InternalServerException'],
  ] as const)('raises %s as its own exception', async (fault, status, name) => {
    upstream.control.fault('p5', fault);
    const error = await failure(client.send(new ConverseCommand({ modelId, messages })));
    expect([error.name, error.$metadata.httpStatusCode]).toEqual([name, status]);
  });

  it('raises an exception inside a stream', async () => {
    upstream.control.fault('p5', 'stream_error', { afterTokens: 3 });
    const error = await failure(streamOf({ modelId, messages }));
    expect(error.name).toBe('InternalServerException');
  });

  it.each(['malformed', 'cut'] as const)('fails at a stream that is %s', async (fault) => {
    upstream.control.fault('p5', fault, { afterTokens: 3 });
    await expect(streamOf({ modelId, messages })).rejects.toThrow();
  });
});

describe('credentials of', () => {
  const ask = async (over: object): Promise<string> => {
    const other = new BedrockRuntimeClient({ ...common, endpoint: upstream.url('p5'), ...over });
    const error = await failure(other.send(new ConverseCommand({ modelId, messages })));
    other.destroy();
    return error.name;
  };

  it('an unknown access key are refused', async () => {
    const unknown = { ...credentials, accessKeyId: 'AKIDOTHER' };
    expect(await ask({ credentials: unknown })).toBe('UnrecognizedClientException');
  });

  it('a wrong secret are refused', async () => {
    const wrong = { ...credentials, secretAccessKey: 'wrong' };
    expect(await ask({ credentials: wrong })).toBe('InvalidSignatureException');
  });

  it('a clock that is ten minutes off are refused, by whoever believes the time', async () => {
    expect(await ask({ credentials, systemClockOffset: 600_000 })).toBe(
      'InvalidSignatureException',
    );
  });

  it('a session are taken with its token, which is signed', async () => {
    const session = { ...credentials, sessionToken: 'TOKEN' };
    const other = new BedrockRuntimeClient({
      ...common,
      endpoint: upstream.url('p5'),
      credentials: session,
    });
    const answer = await other.send(new ConverseCommand({ modelId, messages }));
    other.destroy();
    expect(answer.stopReason).toBe('end_turn');
    const sent = upstream.requests('p5').at(-1)?.headers['x-amz-security-token'];
    expect(sent).toBe('TOKEN');
  });

  it('an API key are taken as a bearer token', async () => {
    const other = new BedrockRuntimeClient({
      ...common,
      endpoint: upstream.url('p5'),
      token: { token: 'bedrock-api-key' },
      authSchemePreference: ['httpBearerAuth'],
    });
    const answer = await other.send(new ConverseCommand({ modelId, messages }));
    other.destroy();
    expect(answer.stopReason).toBe('end_turn');
    expect(upstream.requests('p5').at(-1)?.headers['authorization']).toBe('Bearer bedrock-api-key');
  });
});
