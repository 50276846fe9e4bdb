/** What `serve` says when it is up: where it listens, and commands that work as pasted. */
import { relative } from 'node:path';
import { arrayAt, type JsonObject } from '../base/json.ts';
import type { AppFacts } from '../http/app-ports.ts';

export type BannerOptions = {
  readonly version: string;
  readonly facts: AppFacts;
  readonly workingDirectory: string;
};

/** What a terminal of 80 columns leaves for the value after `-d`. */
const lineLengthMax = 70;

type Tier = AppFacts['tiers'][number];

/** Lines with their ends; a terminal of 80 columns shows most of them whole. */
export function startBanner(options: BannerOptions): string {
  const { version, facts } = options;
  const tier = shownTier(facts.tiers);
  const lines = [
    `Tiergate ${version} listens on ${facts.origin}`,
    `with config version ${facts.configVersion}, from ${facts.configSource}.`,
    ...(facts.simulatorOrigin === null
      ? []
      : ['No provider key was found, so its providers are simulated: they cost nothing.']),
    ...facts.notices.map((notice) => `Note: ${notice}`),
    ...(tier === null ? [] : commands(tier, options)),
  ];
  return `${lines.join('\n')}\n\n`;
}

type Step = { readonly title: string; readonly curl: readonly string[] };

function commands(tier: Tier, { facts, workingDirectory }: BannerOptions): string[] {
  const { origin, simulatorOrigin } = facts;
  const client = facts.isClientKeyRequired
    ? [`-H "authorization: Bearer $TIERGATE_CLIENT_KEY"`]
    : [];
  const admin = `-H "authorization: Bearer ${adminKeySource(facts, workingDirectory)}"`;
  const call = { model: tier.name, messages: [{ role: 'user', content: 'Why is the sky blue?' }] };
  const outage = { provider: tier.firstProvider, fault: 'overload', for: '60s' };
  const steps: readonly Step[] = [
    {
      title: 'Ask a tier:',
      curl: [`-s -i ${origin}/v1/chat/completions`, ...client, ...json(call)],
    },
    ...(simulatorOrigin === null
      ? []
      : [
          {
            title: 'Break its first provider for a minute, then ask again, a few times:',
            curl: [`-s -X POST ${simulatorOrigin}/_sim/faults`, ...json(outage)],
          },
        ]),
    {
      title: 'Read who served:',
      curl: [`-s ${quoted(`${origin}/admin/v1/served?tier=${tier.name}&limit=5`)}`, admin],
    },
    {
      title: 'Edit the tier; the next request follows:',
      curl: [
        `-s -X PUT ${origin}/admin/v1/tiers/${tier.name}`,
        `${admin} -H 'if-match: *'`,
        ...json(rotated(tier.config)),
      ],
    },
  ];
  return steps.flatMap(({ title, curl }) => ['', title, `  curl ${curl.join(' \\\n    ')}`]);
}

/** One with a fallback shows the most; `smart` when there is a choice. */
function shownTier(tiers: readonly Tier[]): Tier | null {
  const withFallback = tiers.filter(({ config }) => arrayAt(config, 'targets').length > 1);
  return withFallback.find(({ name }) => name === 'smart') ?? withFallback[0] ?? tiers[0] ?? null;
}

/** The tier with its first target put last: an edit that anyone can see the effect of. */
function rotated(config: JsonObject): JsonObject {
  const [first, ...others] = arrayAt(config, 'targets');
  return { ...config, targets: first === undefined ? [] : [...others, first] };
}

function adminKeySource(facts: AppFacts, workingDirectory: string): string {
  if (facts.adminKeyFile === null) return '$TIERGATE_ADMIN_KEY';
  const near = relative(workingDirectory, facts.adminKeyFile);
  const path = near.startsWith('..') ? facts.adminKeyFile : near;
  return `$(cat ${/^[\w./-]+$/.test(path) ? path : quoted(path)})`;
}

function json(value: JsonObject): string[] {
  return [`-H 'content-type: application/json'`, `-d ${quoted(shownJson(value))}`];
}

/** On one line where it fits, else a line a field; a list that is too long has a line an element. */
function shownJson(value: JsonObject): string {
  const whole = JSON.stringify(value);
  if (whole.length <= lineLengthMax) return whole;
  const fields = Object.entries(value).map(([name, field]) => {
    const line = `${JSON.stringify(name)}: ${JSON.stringify(field)}`;
    if (line.length <= lineLengthMax || !Array.isArray(field)) return line;
    const elements = field.map((element) => JSON.stringify(element));
    return `${JSON.stringify(name)}: [\n        ${elements.join(',\n        ')}]`;
  });
  return `{\n      ${fields.join(',\n      ')}}`;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
