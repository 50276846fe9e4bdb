/** Nothing that a client's body holds is lost in silence: it is carried, named as left out, or refused. */
import { describe, expect, it } from 'vitest';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { carry, clientFeatures } from '../../support/translation/carrying.ts';

it('every client dialect is tried', () => {
  expect(Object.keys(clientFeatures).toSorted()).toEqual([...clientDialects.keys()].toSorted());
});

describe.each(Object.entries(clientFeatures))('from %s', (client, { groups }) => {
  const features = groups.flatMap((group) => group.features);
  describe.each([...upstreamDialects.values()])('to $name', (upstream) => {
    it.each(features)('$name is not lost in silence', (feature) => {
      for (const age of ['older', 'newer'] as const) {
        const carrying = carry(client, feature, { upstream, age });
        expect(carrying).not.toHaveProperty('kind', 'lost');
        if (client === upstream.name) expect(carrying.kind).toMatch(/as_it_came|adapted|left_out/);
      }
    });
  });
});
