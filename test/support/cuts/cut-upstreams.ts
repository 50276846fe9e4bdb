/** Who speaks each upstream dialect in the cut fuzz: a kind of provider, and the simulated vendor behind it. */
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import type { ProviderKind } from '../../../src/providers/provider-kind.ts';
import { providerKinds } from '../../../src/providers/registry.ts';
import type { Vendor } from '../../../src/simulator/vendors/vendor.ts';
import { vendors } from '../../../src/simulator/world.ts';

export type CutUpstream = {
  readonly dialect: string;
  readonly kind: string;
  /** As it is on the route that the kind asks. */
  readonly vendor: Vendor;
  readonly model: string;
};

/** Of the registered dialects those that a simulated vendor speaks, each once. */
export const cutUpstreams: readonly CutUpstream[] = [...upstreamDialects.keys()].flatMap(
  (dialect) => providerKinds.filter((kind) => kind.dialect === dialect).flatMap(spoken)[0] ?? [],
);

/** The rest: one that is left out of the fuzz is a fault. */
export const unspokenDialects: readonly string[] = [...upstreamDialects.keys()].filter(
  (dialect) => !cutUpstreams.some((upstream) => upstream.dialect === dialect),
);

function spoken({ name, dialect, urlFor }: ProviderKind): readonly CutUpstream[] {
  return Object.values(vendors).flatMap((vendor) => {
    const model = vendor.modelNames[0] ?? '';
    const url = new URL(
      urlFor({ baseUrl: `http://a${vendor.basePath}`, model, isStream: true, own: {} }),
    );
    const head = { method: 'POST', path: url.pathname, query: url.searchParams, headers: {} };
    const wire = [...(vendor.wires ?? []), vendor].find(
      (one) => one.route(head)?.operation === 'generate',
    );
    return wire === undefined ? [] : [{ dialect, kind: name, vendor: wire, model }];
  });
}
