/** A provider of any kind, bound as a document's entry would be, with the true dialects. */
import { systemClock } from '../../src/base/clock.ts';
import { upstreamDialects } from '../../src/dialects/registry.ts';
import { createProviderBinder, type ProviderSettings } from '../../src/providers/bind.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { providerKind } from '../../src/providers/registry.ts';
import { noTransport } from './no-transport.ts';

export function boundProvider(
  settings: Partial<ProviderSettings> & { readonly kind: string },
): Provider {
  const secrets: Readonly<Record<string, string>> = { 'env:ROUTE_TOKEN': 'route-secret' };
  const bind = createProviderBinder({
    clock: systemClock,
    transport: noTransport,
    dialectByName: (name) => upstreamDialects.get(name) ?? null,
    resolveSecret: (reference) => secrets[reference] ?? null,
  });
  return bind({
    name: 'p',
    baseUrl: providerKind(settings.kind)?.baseUrl ?? 'http://127.0.0.1:11434/v1',
    keyReferences: [],
    headers: {},
    allowMissingFinish: false,
    eventBytesMax: 1024,
    rules: [],
    own: {},
    ...settings,
  });
}
