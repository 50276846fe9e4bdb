/** Bodies that a real service took: read, and sent to a target of the same dialect as they came. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringAt } from '../../../src/base/json.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { recordedFolder } from './recorded-fixtures.ts';

/** Whose requests lie there, by what their files' names begin with. */
const dialects = {
  'anthropic-': 'anthropic-messages',
  'openai-responses-': 'openai-responses',
  'xai-responses-': 'openai-responses',
} as const;

const folder = recordedFolder();
const bodies = Object.entries(dialects).flatMap(([prefix, dialect]) =>
  (folder === null ? [] : readdirSync(join(folder, 'requests')))
    .filter((name) => name.startsWith(prefix))
    .map((name) => [name, dialect, join(folder ?? '', 'requests', name)] as const),
);

/**
 * As it came, but for what some clients leave to the service's default, which is to keep answers: any
 * target may serve the next turn, so that nothing is kept, and ids name nothing.
 */
function expectSent(text: string, came: string): void {
  const body = JSON.parse(came);
  if (!Array.isArray(body.input) || body.store !== undefined) {
    expect(text).toBe(came);
    return;
  }
  for (const item of body.input) delete item.id;
  expect(JSON.parse(text)).toEqual({ ...body, store: false });
}

if (folder === null) {
  it('did not run: there are no recorded requests here (TIERGATE_RECORDED)', () => {
    expect(bodies).toEqual([]);
  });
} else {
  describe('a recorded request', () => {
    it('is there', () => expect(bodies.length).toBeGreaterThan(0));

    it.each(bodies)('%s leaves as it came', (_name, dialect, file) => {
      const bytes = readFileSync(file);
      const decoded = clientDialects.get(dialect)?.decodeRequest(bytes);
      if (decoded?.ok !== true) throw new Error(JSON.stringify(decoded));
      const { request } = decoded.value;
      const model = stringAt(JSON.parse(bytes.toString()), 'model') ?? '';
      const encoded = upstreamDialects.get(dialect)?.encodeCall({
        request,
        model,
        isStream: request.isStream,
        system: null,
        parameters: request.parameters,
        ownedParameters: [],
        extraFields: {},
        toolDescriptions: {},
        maxOutputTokens: null,
        isReasoningModel: false,
        usualModel: model,
      });
      if (encoded?.ok !== true) throw new Error(JSON.stringify(encoded));
      expectSent(encoded.value.body.toString(), bytes.toString());
      expect(encoded.value.dropped).toEqual([]);
    });
  });
}
