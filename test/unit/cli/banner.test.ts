import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { startBanner } from '../../../src/cli/banner.ts';
import type { AppFacts } from '../../../src/http/app-ports.ts';

const facts: AppFacts = {
  origin: 'http://127.0.0.1:8437',
  configVersion: 1,
  configSource: 'simulated providers',
  tiers: [
    { name: 'lone', firstProvider: 'p1', config: { targets: [{ provider: 'p1', model: 'm' }] } },
    {
      name: 'pair',
      firstProvider: 'p1',
      config: {
        description: "It's a pair",
        targets: [
          { provider: 'p1', model: 'm' },
          { provider: 'p2', model: 'n' },
        ],
      },
    },
  ],
  simulatorOrigin: 'http://127.0.0.1:8438',
  adminKeyFile: '/srv/gate/data/admin.key',
  isClientKeyRequired: false,
  notices: ['a notice'],
};

function banner(changes: Partial<AppFacts> = {}): string {
  return startBanner({
    version: '1.2.3',
    facts: { ...facts, ...changes },
    workingDirectory: '/srv/gate',
  });
}

/** The arguments as a shell would give them to curl. */
function argumentsOf(line: string): string[] {
  const script = `curl() { for a in "$@"; do printf '%s\\0' "$a"; done; }; cat() { echo KEY-OF-$1; }; ${line}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

function commandAfter(text: string, title: string): string {
  return text.split(title)[1]?.split('\n\n')[0]?.trim() ?? '';
}

describe('the banner', () => {
  it('says where it listens and that the providers are simulated', () => {
    expect(banner()).toMatch(
      /^Tiergate 1\.2\.3 listens on http:\/\/127\.0\.0\.1:8437\nwith config version 1, from/,
    );
    expect(banner()).toContain('its providers are simulated');
    expect(banner()).toContain('Note: a notice');
    expect(banner({ simulatorOrigin: null })).not.toContain('_sim');
  });

  it('fits a terminal of 80 columns', () => {
    expect(
      banner()
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([]);
  });

  it('prints commands that a shell takes as they are', () => {
    const ask = argumentsOf(commandAfter(banner(), 'Ask a tier:'));
    expect(ask).toContain('http://127.0.0.1:8437/v1/chat/completions');
    expect(JSON.parse(ask.at(-1) ?? '')).toMatchObject({ model: 'pair' });
    const break_ = argumentsOf(commandAfter(banner(), 'a few times:'));
    expect(break_).toContain('http://127.0.0.1:8438/_sim/faults');
    expect(JSON.parse(break_.at(-1) ?? '')).toEqual({
      provider: 'p1',
      fault: 'overload',
      for: '60s',
    });
    const read = argumentsOf(commandAfter(banner(), 'Read who served:'));
    expect(read).toContain('http://127.0.0.1:8437/admin/v1/served?tier=pair&limit=5');
    expect(read).toContain('authorization: Bearer KEY-OF-data/admin.key');
  });

  it('the edit puts the first target last and keeps the rest of the tier', () => {
    const edit = argumentsOf(commandAfter(banner(), 'follows:'));
    expect(edit).toContain('if-match: *');
    expect(JSON.parse(edit.at(-1) ?? '')).toEqual({
      description: "It's a pair",
      targets: [
        { provider: 'p2', model: 'n' },
        { provider: 'p1', model: 'm' },
      ],
    });
  });

  it('names the variables of keys that came from the environment, never the keys', () => {
    const text = banner({ adminKeyFile: null, isClientKeyRequired: true });
    expect(text).toContain('"authorization: Bearer $TIERGATE_CLIENT_KEY"');
    expect(text).toContain('"authorization: Bearer $TIERGATE_ADMIN_KEY"');
  });

  it('quotes a path that a shell would cut', () => {
    const text = banner({ adminKeyFile: "/other/it's here/admin.key" });
    const read = argumentsOf(commandAfter(text, 'Read who served:'));
    expect(read).toContain("authorization: Bearer KEY-OF-/other/it's here/admin.key");
  });

  it('does without tiers', () => {
    expect(banner({ tiers: [] })).toContain('listens on');
  });
});
