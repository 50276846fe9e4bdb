/** Which limit's end counts, protocol by protocol, from the tables by which hints are read. */
import { upstreamDialects } from '../../src/dialects/registry.ts';
import type { LimitHeader } from '../../src/failure/error-rule.ts';

const formats = {
  duration: 'a duration such as `6m0s`, or seconds',
  rfc3339: 'a time in RFC 3339',
  epoch_seconds: 'seconds since 1970, or until then',
} satisfies { readonly [format in LimitHeader['format']]: string };

/** One row for each family of headers: those that differ by the limit's name alone. */
export function limitsTable(): string {
  const rows = [...upstreamDialects].flatMap(([dialect, { hints }]) => {
    const families = Map.groupBy(hints.limits, (limit) => JSON.stringify(familyOf(limit)));
    return [...families].map(([family, limits]) => {
      const { remaining, reset, format } = JSON.parse(family) as LimitHeader;
      const names = limits.map((limit) => nameOf(limit)).filter((name) => name !== '');
      const listed = names.length === 0 ? '' : names.map((name) => `\`${name}\``).join(', ');
      return `| \`${dialect}\` | \`${remaining}\` | \`${reset}\` | ${formats[format]} | ${listed} |`;
    });
  });
  return [
    '| protocol | nothing is left when this is 0 | then this counts | it tells | `NAME` |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function familyOf({ remaining, reset, format }: LimitHeader): LimitHeader {
  const name = nameOf({ remaining, reset, format });
  if (name === '') return { remaining, reset, format };
  return { remaining: remaining.replace(name, 'NAME'), reset: reset.replace(name, 'NAME'), format };
}

function nameOf({ remaining }: LimitHeader): string {
  return remaining.replace(/^(?:x|anthropic)-ratelimit-/, '').replace(/(?:^|-)remaining-?/, '');
}
