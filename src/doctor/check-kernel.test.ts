import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { checkKernel } from './check-kernel.ts';
import type { NodeFacts, Wishes } from './facts.ts';
import { HEALTHY, inShort, ipvs, WISHES, withSettings } from './facts-fixture.ts';

describe('doctor/check-kernel', () => {
  const cases: readonly (readonly [name: string, Partial<NodeFacts>, Partial<Wishes>, readonly string[]])[] = [
    ['finds nothing on a kernel that has everything', {}, {}, []],
    [
      'names a kernel without IPVS, and that alone',
      { ipvs: succeed(undefined), ipvsModule: succeed('missing'), schedulerModule: succeed('missing') },
      {},
      ['error ipvs-missing'],
    ],
    [
      'notes IPVS that is only to be loaded',
      { ipvs: succeed(undefined), ipvsModule: succeed('loadable'), schedulerModule: succeed('loadable') },
      {},
      ['note ipvs-not-loaded'],
    ],
    [
      'warns of IPVS of which nobody knows whether it can be loaded',
      { ipvs: succeed(undefined), ipvsModule: fail('no folder') },
      {},
      ['warning ipvs-not-loaded'],
    ],
    ['says so where IPVS cannot be read', { ipvs: fail('EACCES') }, {}, ['not checked: IPVS']],
    [
      'takes a scheduler that the kernel lacks for what ends the daemon',
      { schedulerModule: succeed('missing') },
      { scheduler: 'wrr' },
      ['error scheduler-missing'],
    ],
    [
      'warns of it where rr may take its place',
      { schedulerModule: succeed('missing') },
      { scheduler: 'wrr', unknownScheduler: 'round-robin' },
      ['warning scheduler-missing'],
    ],
    ['takes a kernel without rr for broken', { schedulerModule: succeed('missing') }, {}, ['error scheduler-missing']],
    [
      'says so where only a trial could tell',
      { schedulerModule: fail('no folder') },
      { scheduler: 'mh' },
      ['not checked: scheduler mh'],
    ],
    [
      'needs to know no more of a scheduler that is in use',
      { ipvs: succeed(ipvs(['TCP  0A600047:0050 mh '])), schedulerModule: fail('no folder') },
      { scheduler: 'mh' },
      [],
    ],
    [
      'R15: warns of the fault of kernels before 5.9',
      { kernelRelease: '5.4.0-150-generic' },
      {},
      ['warning reused-ports'],
    ],
    [
      'notes it where the operator has decided',
      { kernelRelease: '5.4.0-150-generic' },
      { connReuseMode: 1 },
      ['note reused-ports'],
    ],
    ['finds no such fault before 4.1', { kernelRelease: '3.10.0-1160.el7.x86_64' }, {}, ['warning kernel-old']],
    [
      'says so of a release that it does not understand',
      { kernelRelease: 'custom' },
      {},
      ['not checked: the release of the kernel'],
    ],
  ];
  for (const [name, facts, wishes, expected] of cases) {
    it(name, () =>
      expect(inShort(checkKernel({ ...HEALTHY, ...facts }, { ...WISHES, ...wishes }))).to.deep.equal(expected),
    );
  }

  it('R16: warns of the value of old kernels on a new one, unless it is asked for', () => {
    const facts = withSettings({ 'net/ipv4/vs/conn_reuse_mode': '0' });
    expect(inShort(checkKernel(facts, WISHES))).to.deep.equal(['warning reuse-mode-off']);
    expect(inShort(checkKernel(facts, { ...WISHES, connReuseMode: 0 }))).to.deep.equal([]);
  });
});
