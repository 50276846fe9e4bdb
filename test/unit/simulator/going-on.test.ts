/** Simulated providers go on with an answer that broke off: with a prefill or asked in words, well or rudely. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Manner, manners } from '../../../src/simulator/go-on.ts';
import { instantPace } from '../../../src/simulator/settings.ts';
import { type Simulation, startProviders } from '../../../src/simulator/simulator.ts';
import { vendorNames } from '../../../src/simulator/vendors/vendor.ts';

const story = 'Once there was a keeper. He climbed the stairs of the tower every evening, alone.';
const begun = 'Once there was a keeper. He climbed the stairs of the';
const anchor = 'He climbed the stairs of the';
const rest = ' tower every evening, alone.';

const asked: { readonly [manner in Manner]: (anchor: string) => string } = {
  faithful: (words) => words + rest,
  repeat_sentence: () => `${anchor}${rest}`,
  announce: (words) => `Sure, continuing:\n\n${words}${rest}`,
  new_paragraph: (words) => `\n\n${words}${rest}`,
  start_over: () => story,
};

type Name = 'openai' | 'anthropic' | 'gemini';
let simulation: Simulation<Name>;

beforeAll(async () => {
  const specs = Object.fromEntries(vendorNames.map((vendor) => [vendor, { vendor }]));
  simulation = await startProviders<Name>(specs as { [name in Name]: { vendor: Name } }, {
    pace: instantPace,
    auth: 'open',
  });
});

afterAll(() => simulation.close());

/** The status, and the text of a whole reply. */
async function ask(name: Name, turns: readonly string[]): Promise<readonly [number, string]> {
  const url = simulation.providers[name].url;
  const isUsers = (at: number): boolean => at % 2 === 0;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return [response.status, JSON.parse(await response.text())] as const;
  };
  if (name === 'gemini') {
    const contents = turns.map((text, at) => ({
      role: isUsers(at) ? 'user' : 'model',
      parts: [{ text }],
    }));
    const path = '/v1beta/models/gemini-2.5-flash:generateContent';
    const [status, reply] = await post(path, { contents });
    return [status, reply.candidates?.[0].content.parts[0].text ?? reply.error.message];
  }
  const messages = turns.map((content, at) => ({
    role: isUsers(at) ? 'user' : 'assistant',
    content,
  }));
  if (name === 'anthropic') {
    const body = { model: 'claude-sonnet-4-5', max_tokens: 1000, messages };
    const [status, reply] = await post('/v1/messages', body, { 'anthropic-version': '2023-06-01' });
    return [status, reply.content?.[0].text ?? reply.error.message];
  }
  const [status, reply] = await post('/chat/completions', { model: 'gpt-5.1', messages });
  return [status, reply.choices?.[0].message.content ?? reply.error.message];
}

describe.each(['openai', 'anthropic', 'gemini'] as const)('%s', (name) => {
  it.each(manners)('goes on with a story: %s', async (manner) => {
    simulation.control.script(name, [{ story, manner }]);
    expect(await ask(name, ['Tell.'])).toEqual([200, story]);
    expect(await ask(name, ['Tell.', begun])).toEqual([200, asked[manner]('')]);
    const words = `Go on after this: ${anchor}`;
    expect(await ask(name, ['Tell.', begun, words])).toEqual([200, asked[manner](anchor)]);
    expect(await ask(name, ['Tell.', begun, 'Thank you.'])).toEqual([200, story]);
    simulation.control.clear();
  });

  it('refuses a prefill, in a story and as a fault, and answers what ends with the user', async () => {
    simulation.control.script(name, [{ story, prefill: false }]);
    const [status, message] = await ask(name, ['Tell.', begun]);
    expect(status).toBe(400);
    expect(message).toMatch(/user/);
    expect((await ask(name, ['Tell.', begun, anchor]))[0]).toBe(200);
    simulation.control.clear();
    simulation.control.fault(name, 'refuse_prefill');
    expect(await ask(name, ['Tell.', begun])).toEqual([400, message]);
    expect((await ask(name, ['Tell.']))[0]).toBe(200);
    simulation.control.clear();
  });

  it('goes on with its own answer, well or struck by a fault', async () => {
    const [, whole] = await ask(name, ['Tell me of the sea.']);
    const part = whole.slice(0, 40);
    const quoted = part.slice(-20);
    const turns = ['Tell me of the sea.', part, `The end was: ${quoted}`];
    expect(await ask(name, turns)).toEqual([200, quoted + whole.slice(40)]);
    simulation.control.fault(name, 'start_over');
    expect(await ask(name, turns)).toEqual([200, whole]);
    simulation.control.clear();
  });
});
