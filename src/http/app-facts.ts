/** What the start banner says, read off the parts that were started. */
import type { AdminKey } from '../admin/admin-key.ts';
import { type ConfigSource, faultLine, sourceName } from '../admin/config-seed.ts';
import type { StartedConfig } from '../routing/start-live-config.ts';
import type { AppFacts, AppOptions } from './app-ports.ts';

export function factsOf(input: {
  readonly options: AppOptions;
  readonly source: ConfigSource;
  readonly loaded: StartedConfig;
  readonly adminKey: AdminKey;
  readonly simulatorOrigin: string | null;
  readonly origin: string;
}): AppFacts {
  const { options, source, loaded, adminKey, origin } = input;
  const { config, origin: configOrigin, seedChanges } = loaded;
  const snapshot = config.current();
  const differs =
    seedChanges.length === 0
      ? []
      : [
          `${sourceName(source)} differs from the config in the database in ${seedChanges.length} place(s); the database counts`,
        ];
  const isStored = configOrigin === 'stored' && source.kind !== 'simulated';
  return {
    origin,
    configVersion: snapshot.version,
    configSource: isStored ? 'database' : sourceName(source),
    tiers: [...snapshot.tiers.values()].map(({ name, targets }) => ({
      name,
      firstProvider: targets[0]?.provider.name ?? '',
      config: config.tier(name)?.config ?? {},
    })),
    simulatorOrigin: input.simulatorOrigin,
    adminKeyFile: adminKey.file,
    isClientKeyRequired: options.clientKey !== null,
    notices: [
      ...differs,
      ...(adminKey.notice === null ? [] : [adminKey.notice]),
      ...config.warnings().map(faultLine),
    ],
  };
}
