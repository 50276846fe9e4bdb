/** The composition root: builds the gateway from its parts, and takes it apart again. No decisions live here. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createAccess, hashSecret } from './admin/access.ts';
import { type AdminKey, ensureAdminKey } from './admin/admin-key.ts';
import { createClassifyError } from './admin/classify-error.ts';
import {
  type ConfigSource,
  configSource,
  faultLine,
  seedOf,
  sourceName,
} from './admin/config-seed.ts';
import { createExplainRequest } from './admin/explain-request.ts';
import { restoreOverrides } from './admin/kept-overrides.ts';
import { readPromptDirectories } from './admin/prompt-directories.ts';
import { readinessOf } from './admin/readiness.ts';
import { startSimulated } from './admin/simulated-providers.ts';
import { statusOf } from './admin/status.ts';
import { createTargetAdmin } from './admin/target-admin.ts';
import { createTierAdmin } from './admin/tier-admin.ts';
import { watchDocument } from './admin/watch-document.ts';
import { systemClock } from './base/clock.ts';
import { Closers } from './base/closers.ts';
import { systemRandom } from './base/random.ts';
import { fail, type Result, success } from './base/result.ts';
import { clientDialects, upstreamDialects } from './dialects/registry.ts';
import { AlertWatch } from './engine/alert-watch.ts';
import { type AlertCenter, createAlerts } from './engine/alerts.ts';
import { createEngine } from './engine/failover.ts';
import { createHealthRegistry } from './engine/health-registry.ts';
import { OverrideTable } from './engine/override-table.ts';
import { UnknownShapes } from './failure/unknown-shapes.ts';
import { factsOf } from './http/app-facts.ts';
import type { App, AppOptions, StartApp, StartFault } from './http/app-ports.ts';
import { createHttpServer } from './http/http-server.ts';
import { isLoopbackName } from './http/request-guard.ts';
import { createPipeline } from './pipeline/pipeline.ts';
import { createProviderBinder } from './providers/bind.ts';
import type { ProviderKey } from './providers/provider.ts';
import { createSecretResolver, type SecretResolver, secretAlias } from './providers/secrets.ts';
import type { LiveConfig } from './routing/live-config.ts';
import type { RevisionStore } from './routing/revision-store.ts';
import { type StartedConfig, startLiveConfig } from './routing/start-live-config.ts';
import { keptText } from './store/kept-text.ts';
import { lastGoodConfig, standInRevisions } from './store/last-good-config.ts';
import { openFleet } from './store/redis/open-fleet.ts';
import type { RedisFleet } from './store/redis/redis-fleet.ts';
import { openSqliteStore, type SqliteStore } from './store/sqlite/sqlite-store.ts';
import { alertEntry } from './telemetry/alert-message.ts';
import { Counters } from './telemetry/counters.ts';
import { SuccessRates } from './telemetry/success-rates.ts';
import { Webhook } from './telemetry/webhook.ts';
import type { Transport } from './transport/transport.ts';
import { createUndiciTransport } from './transport/undici-transport.ts';

const clock = systemClock;
const random = systemRandom;
/** Names in `meta`: a simulation seeded the config, and nobody meant to keep it. */
const simulatedMark = 'config_is_simulated';
/** What operators decided about targets. */
const overridesName = 'target_overrides';

export const startApp: StartApp = async (options) => {
  const closers = new Closers();
  const started = await start(options, closers);
  if (!started.ok) await closers.close();
  return started;
};

function fault(code: StartFault['code'], message: string, details: readonly string[] = []) {
  return fail<StartFault>({ code, message, details });
}

async function start(options: AppOptions, closers: Closers): Promise<Result<App, StartFault>> {
  const { log } = options;
  const missing = missingKeys(options);
  if (missing !== null) return fail(missing);
  let config: LiveConfig | null = null;
  const opened = await openSqliteStore({
    dataDirectory: options.dataDirectory,
    commitWaitMs: () => config?.current().log.commitWaitMs ?? 250,
    keepMs: () => config?.current().log.keepMs ?? 90 * 24 * 3_600_000,
    log,
    clock,
  });
  if (!opened.ok) return fault('database', opened.fault.message);
  const store = opened.value;
  closers.add(() => store.close());
  const adminKey = adminKeyOf(options, store);
  if (!adminKey.ok) return fault('data_directory', adminKey.fault);
  const alerting = startAlerting(options, () => config, closers);

  const source = configSource(options.configFile, options.environment);
  const simulation = await startSimulated(source, { closers, log });
  if (!simulation.ok) return fault('simulator', simulation.fault);
  const { resolveSecret, transport } = alerting;
  const { baseUrls } = simulation.value;
  const loaded = await loadConfig({ options, source, store, baseUrls, resolveSecret, transport });
  if (!loaded.ok) return loaded;
  config = loaded.value.config;
  if (options.configMode === 'file' && options.configFile !== null) {
    const { alerts } = alerting;
    closers.add(watchDocument(options.configFile, config, { log, alerts }));
  }
  return serve({
    options,
    closers,
    store,
    alerting,
    adminKey: adminKey.value,
    source,
    loaded: loaded.value,
    simulatorOrigin: simulation.value.origin,
  });
}

/** Beyond loopback nobody is let in without keys. */
function missingKeys(options: AppOptions): StartFault | null {
  if (isLoopbackName(options.host)) return null;
  const hasAdminKey =
    options.adminKey !== null || existsSync(join(options.dataDirectory, 'admin.key'));
  if (options.clientKey !== null && hasAdminKey) return null;
  return {
    code: 'keys_missing',
    message: `listening on ${options.host} needs a client key and an admin key; make them with`,
    details: [
      'export TIERGATE_CLIENT_KEY="$(openssl rand -hex 32)"',
      'export TIERGATE_ADMIN_KEY="$(openssl rand -hex 32)"',
    ],
  };
}

/** A sick database does not keep the operator out: then only the environment's key or the file's counts. */
function adminKeyOf(options: AppOptions, store: SqliteStore): Result<AdminKey, string> {
  const isSick = store.fault() !== null;
  const meta = isSick ? { get: () => null, set: () => undefined } : store.meta;
  const { adminKey: fromEnvironment, dataDirectory } = options;
  return ensureAdminKey({ fromEnvironment, dataDirectory, meta });
}

type LoadInput = {
  readonly transport: Transport;
  readonly options: AppOptions;
  readonly source: ConfigSource;
  readonly store: SqliteStore;
  readonly resolveSecret: SecretResolver;
  readonly baseUrls: Readonly<Record<string, string>>;
};

async function loadConfig(input: LoadInput): Promise<Result<StartedConfig, StartFault>> {
  const { options, source, store, resolveSecret } = input;
  const bindProvider = createProviderBinder({
    clock,
    transport: input.transport,
    dialectByName: (name) => upstreamDialects.get(name) ?? null,
    resolveSecret,
  });
  const lastGood = lastGoodConfig(options.dataDirectory, options.log);
  const revisions = revisionsOf(store, lastGood.read());
  const storedDocument = revisions.latest()?.document ?? null;
  const isSimulated = store.fault() === null && store.meta.get(simulatedMark) === 'yes';
  const seed = seedOf({
    source,
    configMode: options.configMode,
    environment: options.environment,
    simulatedBaseUrls: input.baseUrls,
    stored: storedDocument === null ? null : { document: storedDocument, isSimulated },
  });
  if (!seed.ok) return fault('config_invalid', seed.fault.message, seed.fault.details);
  const prompts = readPromptDirectories(options.promptDirectories);
  if (!prompts.ok) return fault('config_invalid', prompts.fault.message, prompts.fault.details);
  const started = await startLiveConfig({
    store: revisions,
    bindProvider,
    resolveSecret,
    clock,
    seed: { document: seed.value.document, prompts: prompts.value },
    whenSeedDiffers: store.fault() === null ? seed.value.whenSeedDiffers : 'report',
  });
  if (!started.ok) {
    const details = started.fault.faults.map(faultLine);
    return fault('config_invalid', `the config from ${sourceName(source)} is not valid`, details);
  }
  const { config, origin } = started.value;
  if (store.fault() === null && origin !== 'stored') {
    store.meta.set(simulatedMark, source.kind === 'simulated' ? 'yes' : 'no');
  }
  const keep = (): void => {
    const latest = store.fault() === null ? store.revisions.latest() : null;
    if (latest !== null) lastGood.write(latest);
  };
  keep();
  config.onChange(keep);
  return started;
}

type Alerting = {
  readonly alerts: AlertCenter;
  readonly transport: Transport;
  readonly resolveSecret: SecretResolver;
  /** `alerts.webhook` of the config in force. */
  readonly webhookSecret: () => ProviderKey | null;
};

/** Before the config is there, alerts go to the log alone. */
function startAlerting(
  { log, environment }: AppOptions,
  config: () => LiveConfig | null,
  closers: Closers,
): Alerting {
  const resolveSecret = createSecretResolver({ environment, clock });
  const transport = createUndiciTransport();
  closers.add(() => transport.close());
  const settings = () => config()?.current().alerts ?? null;
  const webhookSecret = (): ProviderKey | null => {
    const reference = settings()?.webhook ?? null;
    if (reference === null) return null;
    return { alias: secretAlias(reference), resolve: () => resolveSecret(reference) };
  };
  const webhook = new Webhook({
    transport,
    clock,
    log,
    secret: webhookSecret,
    onUnresolved: (alias) => {
      const message = `alerts cannot be sent: the secret ${alias} is not set`;
      alerts.raise({ kind: 'secret_unresolved', subject: alias, message, requestId: null });
    },
  });
  closers.add(() => webhook.close());
  const alerts = createAlerts(log, clock, {
    minIntervalMs: () => settings()?.minIntervalMs ?? 3_600_000,
    notify: (notice) => webhook.push(notice),
  });
  return { alerts, transport, resolveSecret, webhookSecret };
}

/** The database's versions, or, while it cannot be used, the last good one from disk. */
function revisionsOf(
  store: SqliteStore,
  lastGood: ReturnType<RevisionStore['latest']>,
): RevisionStore {
  const sick = store.fault();
  if (sick === null || lastGood === null) return store.revisions;
  return standInRevisions(lastGood, sick);
}

type ServeInput = {
  readonly options: AppOptions;
  readonly closers: Closers;
  readonly store: SqliteStore;
  readonly alerting: Alerting;
  readonly adminKey: AdminKey;
  readonly source: ConfigSource;
  readonly loaded: StartedConfig;
  readonly simulatorOrigin: string | null;
};

/** What answers requests, and what watches them. */
function answering(
  { options, closers, store, alerting, loaded }: ServeInput,
  fleet: RedisFleet | null,
) {
  const { log } = options;
  const { alerts, transport, webhookSecret } = alerting;
  const { config } = loaded;
  const { recorder, origins } = store;
  const snapshot = () => config.current();
  const health = createHealthRegistry({ clock, random, fleet });
  closers.add(() => health.close());
  const overrides = new OverrideTable();
  const kept = keptText(store.meta, overridesName, log);
  const restored = restoreOverrides(overrides, kept.read(), clock.wallMs());
  if (restored > 0) log.info('overrides of targets are in force again', { overrides: restored });
  const targets = { clock, health, overrides };
  const counters = new Counters(log);
  const rates = new SuccessRates(clock);
  const unknownShapes = new UnknownShapes();
  const watch = new AlertWatch({
    ...targets,
    alerts,
    snapshot,
    logFault: () => recorder.degradedReason(),
    rowsLost: () => recorder.counts().lost,
    fleetFault: () => fleet?.faultLine() ?? null,
    otherSecrets: () => [webhookSecret()].filter((secret) => secret !== null),
  });
  watch.start();
  closers.add(() => watch.close());
  config.onChange(() => {
    health.retain(snapshot().tiers);
    watch.noteConfig();
  });
  const engine = createEngine({ ...targets, random, transport, alerts, unknownShapes });
  const pipeline = createPipeline({
    clock,
    engine,
    recorder,
    origins,
    snapshot,
    decisions: [config, overrides],
    log,
    onEnd: (trace) => {
      counters.note(trace);
      rates.note(trace);
      watch.noteEnd(trace);
    },
  });
  const status = () =>
    statusOf({
      ...targets,
      snapshot: snapshot(),
      inFlight: pipeline.inFlight(),
      sharedState: fleet?.status() ?? null,
      counters: counters.totals(),
      alerts: alerts.open().map(alertEntry),
      unknownShapes: unknownShapes.entries(),
      successRate: (target) => rates.rate(target),
    });
  const targetAdmin = createTargetAdmin({ ...targets, snapshot, log, keep: kept.write });
  const questions = {
    explain: createExplainRequest({ engine, origins, clock, snapshot, dialects: clientDialects }),
    classify: createClassifyError({ clock, snapshot, dialects: upstreamDialects }),
    bodyBytesMax: () => snapshot().server.bodyBytesMax,
  };
  return { pipeline, snapshot, health, status, targetAdmin, questions };
}

async function serve(input: ServeInput): Promise<Result<App, StartFault>> {
  const { options, closers, store, adminKey, loaded } = input;
  const { log } = options;
  const { config } = loaded;
  const fleet = await openFleet(options.redis, { clock, random, log });
  if (fleet !== null) closers.add(() => fleet.close());
  const { health, ...parts } = answering(input, fleet);
  // What the fleet knows of the targets is asked for before the first request.
  for (const tier of parts.snapshot().tiers.values()) {
    for (const target of tier.targets) health.of(target, tier);
  }
  await fleet?.start();
  const server = createHttpServer({
    ...parts,
    dialects: [...clientDialects.values()],
    access: createAccess([
      { keyId: 'admin', scopes: ['admin'], hash: adminKey.hash },
      ...(options.clientKey === null
        ? []
        : [{ keyId: 'client', scopes: ['call'] as const, hash: hashSecret(options.clientKey) }]),
    ]),
    served: store.served,
    tierAdmin: createTierAdmin(config, options.configMode === 'file' ? options.configFile : null),
    readiness: () =>
      readinessOf({
        config,
        health,
        databaseFault: store.fault()?.kind ?? null,
        logFault: store.recorder.degradedReason(),
        redisFault: fleet?.fault()?.kind ?? null,
      }),
    log,
    clock,
  });
  closers.add(() => server.close());
  const listening = await server.listen({ host: options.host, port: options.port });
  if (!listening.ok) {
    const code = listening.fault.code === 'in_use' ? 'port_in_use' : 'address_unavailable';
    return fault(code, listening.fault.message);
  }
  return success({
    facts: factsOf({ ...input, origin: listening.value.origin }),
    drain: async () => {
      const { drainDelayMs, drainTimeoutMs } = config.current().server;
      const report = await server.drain({ delayMs: drainDelayMs, timeoutMs: drainTimeoutMs });
      await closers.close();
      return report;
    },
    close: () => closers.close(),
  });
}
