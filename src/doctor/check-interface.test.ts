import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { checkInterface } from './check-interface.ts';
import type { NodeFacts } from './facts.ts';
import { dummy, HEALTHY, inShort, link } from './facts-fixture.ts';

describe('doctor/check-interface', () => {
  const running = succeed({ command: 'run', version: '1.2.3', pid: 7 });
  const own = dummy(['10.96.0.10/32']);
  const cases: readonly (readonly [name: string, Partial<NodeFacts>, readonly string[]])[] = [
    ['finds nothing where there is none', {}, []],
    ['finds nothing where a daemon has it', { links: succeed([own]), proxier: running }, []],
    ['notes what a proxy has left there', { links: succeed([own]) }, ['note ipvs-mode-left']],
    [
      'names one that is no dummy',
      { links: succeed([link('kube-ipvs0', [], { kind: 'bridge' })]) },
      ['error interface-not-dummy'],
    ],
    [
      'warns of one that answers ARP',
      { links: succeed([{ ...own, flags: ['BROADCAST'] }]), proxier: running },
      ['warning interface-answers-arp'],
    ],
    ['says so where it cannot look', { links: fail('no ip') }, ['not checked: kube-ipvs0']],
  ];
  for (const [name, facts, expected] of cases) {
    it(name, () => expect(inShort(checkInterface({ ...HEALTHY, ...facts }))).to.deep.equal(expected));
  }
});
