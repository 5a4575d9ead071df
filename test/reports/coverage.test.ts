import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

/** By kind of fault. */
const REPORTS: Readonly<Record<string, readonly string[]>> = {
  'stale real servers': ['R01', 'R03', 'R04', 'R06', 'R08'],
  'draining and reuse of ports': ['R09', 'R11', 'R13', 'R14', 'R15', 'R16', 'R17', 'R18'],
  'idle timeouts': ['R20', 'R21'],
  conntrack: ['R22', 'R24', 'R26', 'R27', 'R28', 'R30', 'R31', 'R32', 'R33'],
  'lost nodes': ['R39', 'R41'],
  'session affinity': ['R35', 'R36', 'R37'],
  'traffic policy Local': ['R42', 'R44', 'R46', 'R47', 'R49'],
  'source addresses': ['R50', 'R51', 'R53', 'R54', 'R55'],
  'bound addresses': ['R58', 'R60', 'R61', 'R62', 'R64', 'R65', 'R67'],
  'filter chain': ['R69', 'R70', 'R73'],
  'source ranges': ['R74', 'R76', 'R77', 'R79'],
  cost: ['R81', 'R83', 'R85', 'R87', 'R88', 'R89', 'R90'],
  'sets, locks and tools': ['R91', 'R93', 'R94', 'R95', 'R97', 'R98'],
  'node ports': ['R100', 'R101', 'R104', 'R105'],
  'dual stack': ['R106', 'R109'],
  start: ['R110', 'R112', 'R113', 'R115', 'R117'],
  'own Node': ['R118', 'R120'],
  SCTP: ['R122', 'R123', 'R124'],
  topology: ['R125'],
  'take-over and clean-up': ['R128', 'R130', 'R132', 'R133', 'R135'],
  'back ends of iptables': ['R136'],
  'health and metrics': ['R139', 'R141', 'R142', 'R143', 'R144'],
};

describe('test/reports/coverage', () => {
  const tested = testedReports();
  for (const [kind, ids] of Object.entries(REPORTS)) {
    it(`has a test for every report of ${kind}`, () => expect(ids.filter((id) => !tested.has(id))).to.deep.equal([]));
  }
});

/** Ids at the start of a test's name in some file under test/, be it given to `it` or in a table of cases. */
function testedReports(): ReadonlySet<string> {
  const top = join(import.meta.dirname, '..');
  const files = readdirSync(top, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.test.ts'));
  const texts = files.map((path) => readFileSync(join(top, path), 'utf8'));
  return new Set(texts.flatMap((text) => [...text.matchAll(/['"`](R\d+): /g)].map(([, id]) => id ?? '')));
}
