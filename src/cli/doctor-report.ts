/** What the doctor found, for people and for programs. */

export type Finding = {
  /** `database`, `provider p1`. */
  readonly subject: string;
  readonly state: 'ok' | 'warning' | 'wrong';
  /** What is so; for `ok` too. */
  readonly message: string;
  /** What to do; null when nothing is to be done. */
  readonly advice: string | null;
};

export function ok(subject: string, message: string): Finding {
  return { subject, state: 'ok', message, advice: null };
}

export function warning(subject: string, message: string, advice: string | null): Finding {
  return { subject, state: 'warning', message, advice };
}

export function wrong(subject: string, message: string, advice: string | null): Finding {
  return { subject, state: 'wrong', message, advice };
}

const words = { ok: 'ok   ', warning: 'warn ', wrong: 'WRONG' } as const;

/** One line a finding, what to do beneath it, and a last line that sums up. */
export function reportText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const lines = findings.flatMap(({ subject, state, message, advice }) => [
    `${words[state]}  ${subject.padEnd(width)}  ${message}`,
    ...(advice === null ? [] : [`${' '.repeat(width + 9)}-> ${advice}`]),
  ]);
  const bad = findings.filter(({ state }) => state === 'wrong').length;
  const odd = findings.filter(({ state }) => state === 'warning').length;
  const sum = bad === 0 ? 'Nothing is wrong' : `${bad} thing${bad === 1 ? ' is' : 's are'} wrong`;
  const aside = odd === 0 ? '' : `; ${odd} to look at`;
  return `${lines.join('\n')}\n\n${sum}${aside}.\n`;
}

export function reportJson(findings: readonly Finding[]): string {
  const document = { ok: isWell(findings), checks: findings };
  return `${JSON.stringify(document, null, 2)}\n`;
}

export function isWell(findings: readonly Finding[]): boolean {
  return findings.every(({ state }) => state !== 'wrong');
}
