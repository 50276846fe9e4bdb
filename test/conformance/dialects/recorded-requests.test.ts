/** Bodies that a real service took: read, and sent to a target of the same dialect as they came. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringAt } from '../../../src/base/json.ts';
import { anthropicMessagesClient } from '../../../src/dialects/anthropic-messages/client.ts';
import { anthropicMessagesUpstream } from '../../../src/dialects/anthropic-messages/upstream.ts';
import { recordedFolder } from './recorded-fixtures.ts';

const folder = recordedFolder();
const bodies =
  folder === null
    ? []
    : readdirSync(join(folder, 'requests'))
        .filter((name) => name.startsWith('anthropic-'))
        .map((name) => [name, join(folder, 'requests', name)] as const);

if (folder === null) {
  it('did not run: there are no recorded requests here (TIERGATE_RECORDED)', () => {
    expect(bodies).toEqual([]);
  });
} else {
  describe('a recorded request of anthropic-messages', () => {
    it('is there', () => expect(bodies.length).toBeGreaterThan(0));

    it.each(bodies)('%s leaves as it came', (_name, file) => {
      const bytes = readFileSync(file);
      const decoded = anthropicMessagesClient.decodeRequest(bytes);
      if (!decoded.ok) throw new Error(`${decoded.fault.param}: ${decoded.fault.message}`);
      const { request } = decoded.value;
      const model = stringAt(JSON.parse(bytes.toString()), 'model') ?? '';
      const encoded = anthropicMessagesUpstream.encodeCall({
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
      if (!encoded.ok) throw new Error(encoded.fault.message);
      expect(encoded.value.body.toString()).toBe(bytes.toString());
      expect(encoded.value.dropped).toEqual([]);
    });
  });
}
