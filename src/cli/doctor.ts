/** `tiergate doctor`: looks at everything that a start needs, and says what is wrong and what to do. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configSource, sourceName } from '../admin/config-seed.ts';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { createSecretResolver } from '../providers/secrets.ts';
import type { CommandRun } from './command-line.ts';
import { checkConfig, documentFor } from './doctor-config.ts';
import { checkDataDirectory, checkNode, checkPort, openStored } from './doctor-machine.ts';
import { checkProviders } from './doctor-providers.ts';
import { checkRedis } from './doctor-redis.ts';
import { type Finding, isWell, reportJson, reportText, wrong } from './doctor-report.ts';
import { exposureFault, readServeSettings, type ServeSettings } from './serve-settings.ts';

/** Exit code 0 when a gateway would start and serve, 1 when something is wrong, 2 for wrong flags. */
export async function runDoctor({ flags, console, environment }: CommandRun): Promise<number> {
  const settings = readServeSettings(flags, environment, console.workingDirectory);
  const findings: Finding[] = [checkNode(process.versions.node)];
  if (!settings.ok) {
    if (settings.fault.code === 2) {
      for (const line of settings.fault.lines) console.writeError(`tiergate doctor: ${line}\n`);
      return 2;
    }
    for (const line of settings.fault.lines) {
      findings.push(wrong('settings', line, 'correct it; the other checks need it'));
    }
  } else {
    const exposed = exposureFault(settings.value, environment);
    if (exposed !== null) findings.push(wrong('access', exposed.lines.join('\n'), null));
    findings.push(...(await examine(settings.value, environment)));
  }
  console.write(flags.isOn('json') ? reportJson(findings) : reportText(findings));
  return isWell(findings) ? 0 : 1;
}

async function examine(
  settings: ServeSettings,
  environment: CommandRun['environment'],
): Promise<Finding[]> {
  const findings = [...checkDataDirectory(settings.dataDirectory, environment.adminKey)];
  const stored = await openStored(settings.dataDirectory);
  findings.push(...stored.findings);
  findings.push(await checkPort(settings.host, settings.port));
  const ports = { clock: systemClock, random: systemRandom };
  findings.push(...(await checkRedis(settings.redis, ports)));
  const source = configSource(settings.configFile, environment.references);
  const chosen = documentFor({
    source,
    stored: stored.document,
    mode: settings.configMode,
    environment: environment.references,
  });
  findings.push(...chosen.findings);
  if (chosen.document === null) return findings;
  const resolveSecret = createSecretResolver({
    environment: environment.references,
    clock: systemClock,
  });
  const config = await checkConfig({
    document: chosen.document,
    storedPrompts: chosen.isStored ? stored.prompts : null,
    promptDirectories: promptDirectories(settings.configFile),
    resolveSecret,
    name: chosen.isStored ? 'the document in the database' : sourceName(source),
  });
  findings.push(...config.findings);
  if (config.providers.length === 0) return findings;
  findings.push(...(await checkProviders(config.providers, resolveSecret, systemClock)));
  return findings;
}

function promptDirectories(configFile: string | null): readonly string[] {
  const shipped = fileURLToPath(new URL('../../prompts', import.meta.url));
  return configFile === null ? [shipped] : [shipped, join(dirname(configFile), 'prompts')];
}
