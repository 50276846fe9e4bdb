/** The only reader of the process's environment: what the gateway takes from it, and what references may see. */

export type Environment = {
  /** As they were set, trimmed; null = unset or blank. */
  readonly configFile: string | null;
  readonly configMode: string | null;
  readonly host: string | null;
  readonly port: string | null;
  readonly dataDirectory: string | null;
  readonly logLevel: string | null;
  readonly adminKey: string | null;
  readonly clientKey: string | null;
  readonly redisUrl: string | null;
  /** Settings of later versions that are set and do nothing yet. */
  readonly unused: readonly string[];
  /** Variables that are set in a way that must not be taken for unset. */
  readonly faults: readonly string[];
  /** For `env:NAME` references and the search for provider keys: blank ones and our own secrets are left out. */
  readonly references: Readonly<Record<string, string>>;
  /** NO_COLOR is not set. */
  readonly wantsColor: boolean;
};

type Variables = Readonly<Record<string, string | undefined>>;

const ownKeys = ['TIERGATE_ADMIN_KEY', 'TIERGATE_CLIENT_KEY'] as const;
/** Holds a password where it holds one. */
const ownAddress = 'REDIS_URL';
const notYet = ['ADMIN_PORT'] as const;

export function processEnvironment(): Environment {
  return readEnvironment(process.env);
}

export function readEnvironment(variables: Variables): Environment {
  const value = (name: string): string | null => {
    const text = variables[name]?.trim() ?? '';
    return text === '' ? null : text;
  };
  const unused: string[] = notYet.filter((name) => value(name) !== null);
  if (/^postgres(ql)?:/.test(value('DATABASE_URL') ?? '')) unused.push('DATABASE_URL');
  return {
    configFile: value('TIERGATE_CONFIG'),
    configMode: value('TIERGATE_CONFIG_MODE'),
    host: value('HOST'),
    port: value('PORT'),
    dataDirectory: value('TIERGATE_DATA'),
    logLevel: value('LOG_LEVEL'),
    adminKey: value('TIERGATE_ADMIN_KEY'),
    clientKey: value('TIERGATE_CLIENT_KEY'),
    redisUrl: value(ownAddress),
    unused,
    faults: ownKeys.flatMap((name) => keyFault(name, variables[name])),
    references: referencesOf(variables),
    wantsColor: value('NO_COLOR') === null,
  };
}

/** A key that someone meant to set and that came out blank would open what it should close. */
function keyFault(name: string, text: string | undefined): string[] {
  if (text === undefined) return [];
  const key = text.trim();
  if (key === '') return [`${name} is set and blank: give it a value, or unset it`];
  return /^[\x21-\x7e]{1,512}$/.test(key)
    ? []
    : [
        `${name} cannot be sent in a header: use 1 to 512 printable ASCII characters without blanks`,
      ];
}

function referencesOf(variables: Variables): Record<string, string> {
  const references: Record<string, string> = Object.create(null);
  for (const [name, text] of Object.entries(variables)) {
    const isOwn = [...ownKeys, ownAddress].some((own) => own === name);
    if (text !== undefined && text.trim() !== '' && !isOwn) references[name] = text;
  }
  return references;
}
