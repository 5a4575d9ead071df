import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CONNTRACK_HASH_SIZE, type ConntrackLimits, wantedConntrack } from '../../src/kernel/sysctl/conntrack.ts';
import { wantedSysctls } from '../../src/kernel/sysctl/wanted.ts';
import { conntrackLimits } from '../builders/conntrack-limits.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/reference/kernel-objects.md'), 'utf8');

/** Every field that a sysctl depends on, set. */
const ALL_LIMITS: ConntrackLimits = {
  maxPerCore: 1,
  min: 1,
  tcpEstablishedTimeoutMs: 1_000,
  tcpCloseWaitTimeoutMs: 1_000,
  tcpBeLiberal: true,
  udpTimeoutMs: 1_000,
  udpStreamTimeoutMs: 1_000,
};
const NO_LIMITS: ConntrackLimits = conntrackLimits({ min: 1 });

describe('test/config/documented-sysctls', () => {
  const rows = documented();
  const pathsOf = (settings: readonly { readonly path: string }[]) => settings.map(({ path }) => path);

  it('R117: the list of what is written is the documented list', () => {
    const written = ['5.4.0', '6.1.0'].flatMap((release) =>
      wantedSysctls(release, true, { sloppyTCP: true, sloppySCTP: true, runEstimation: false }),
    );
    const all = new Set([...pathsOf(written), ...pathsOf(wantedConntrack(ALL_LIMITS, 4)), CONNTRACK_HASH_SIZE]);
    expect(rows.map(({ path }) => path).sort()).to.deep.equal([...all].sort());
  });

  it('R117: what has a setting is left alone unless the setting asks for it', () => {
    const unasked = new Set(pathsOf([...wantedSysctls('5.4.0', false), ...wantedConntrack(NO_LIMITS, 4)]));
    const without = rows.filter(({ setting }) => setting === '–').map(({ path }) => path);
    expect([...unasked].sort()).to.deep.equal(without.sort());
  });

  it('R117: nothing turns on routing to loopback addresses, on which nested clusters have come to rely', () =>
    expect(rows.some(({ path }) => path.includes('route_localnet'))).to.equal(false));
});

/** Path and setting of each row of the table under "Sysctls". */
function documented(): readonly { readonly path: string; readonly setting: string }[] {
  const [, section = ''] = PAGE.split('\n## Sysctls\n');
  const lines = section.split('\n## ')[0]?.split('\n') ?? [];
  return lines.flatMap((line) => {
    const [, path, setting = ''] = /^\| `([^`]+)` \| [^|]+ \| `?([^|`]+?)`? \| [^|]*\|$/.exec(line) ?? [];
    return path === undefined ? [] : [{ path, setting }];
  });
}
