import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { checkConfig } from '../../../src/cli/doctor-config.ts';
import { checkProviders } from '../../../src/cli/doctor-providers.ts';

const secrets: { readonly [reference: string]: string } = {
  'env:SET': 'a-key',
  'env:ACCOUNT':
    '{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r"}',
};
const resolveSecret = (reference: string): string | null => secrets[reference] ?? null;

function checked(entry: JsonObject): ReturnType<typeof checkConfig> {
  return checkConfig({
    document: {
      providers: { p: entry },
      tiers: { t: { targets: [{ provider: 'p', model: 'm' }] } },
    },
    storedPrompts: {},
    promptDirectories: [],
    resolveSecret,
    name: 'the document',
  });
}

/** What the doctor says of the keys of one provider; nothing listens where it is said to be. */
async function told(entry: JsonObject): Promise<readonly string[]> {
  const { providers } = await checked({ base_url: 'http://127.0.0.1:1', ...entry });
  const findings = await checkProviders(providers, resolveSecret, systemClock);
  return findings.map(({ message }) => message).filter((message) => /key/.test(message));
}

const bedrock = { kind: 'bedrock', region: 'eu-west-1' };
const vertex = { kind: 'vertex-gemini', project: 'a-project' };

it.each<[JsonObject, readonly string[]]>([
  [{ kind: 'mistral', api_keys: ['env:SET'] }, ['key SET is set']],
  [{ kind: 'groq', api_keys: ['env:NONE'] }, ['key NONE does not resolve']],
  [{ kind: 'xai' }, ['has no key']],
  [{ kind: 'azure-openai' }, ['has no key']],
  [{ kind: 'ollama' }, []],
  [{ kind: 'vllm' }, []],
  [{ kind: 'anthropic-compatible' }, []],
  [bedrock, ['has no key']],
  [{ ...bedrock, api_keys: ['env:SET'] }, ['key SET is set']],
  [
    { ...bedrock, credentials: { access_key_id: 'env:SET', secret_access_key: 'env:NONE' } },
    ['key SET is set', 'key NONE does not resolve'],
  ],
  [vertex, ['has no key']],
  [{ ...vertex, machine_account: true }, []],
  [{ ...vertex, api_keys: ['env:ACCOUNT'] }, ['key ACCOUNT is set']],
  [{ ...vertex, api_keys: ['env:SET'] }, ['key SET cannot be used: it is no JSON document']],
])('the doctor on the keys of %j: %j', async (entry, expected) => {
  expect(await told(entry)).toEqual(expected);
});

it('the doctor looks for bedrock where its region is', async () => {
  const { providers, findings } = await checked({ ...bedrock, api_keys: ['env:SET'] });
  expect(providers.map(({ baseUrl }) => baseUrl)).toEqual([
    'https://bedrock-runtime.eu-west-1.amazonaws.com',
  ]);
  expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
});
