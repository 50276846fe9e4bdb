/** Bodies as no client should send them, on every route, to a target of every dialect. */
import { afterAll, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { effort } from '../support/effort.ts';
import { clientRoutes } from '../support/mutations/request-corpus.ts';
import { mutatedBody, requestFault } from '../support/mutations/request-fault.ts';
import { RequestGateway } from '../support/mutations/request-gateway.ts';

const first = Number(process.env['TIERGATE_FUZZ_SEED'] ?? '0');
/** A route: 100,000 in all. */
const bodies = effort(300, 12_500);
const perTest = effort(300, 2500);
const gateway = new RequestGateway();
afterAll(() => gateway.close());

const batches = clientRoutes.flatMap((route) =>
  Array.from({ length: bodies / perTest }, (_, nth) => ({
    route,
    name: route.name,
    from: first + nth * perTest,
  })),
);

it.each(batches)(
  'mutated bodies of $name are answered, or refused in their own form, from seed $from',
  async ({ route, from }) => {
    const faults: string[] = [];
    for (let seed = from; seed < from + perTest; seed += 1) {
      const body = mutatedBody(route, seededRandom(seed));
      const fault = await requestFault(gateway, route, body);
      if (fault !== null) faults.push(`seed ${seed}: ${fault}`);
    }
    expect(faults).toEqual([]);
    expect(await gateway.leaks()).toBe(0);
  },
);
