import { expect } from 'chai';
import { DesiredSteps } from '../../test/builders/desired.ts';
import { ip } from '../../test/builders/net.ts';
import { endpoint, servicePort, settings } from '../../test/builders/objects.ts';
import { memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { Kernel } from '../apply/kernel.ts';
import type { Desired } from '../desired/desired.ts';
import { PATIENT } from '../kernel/ipvs/diff.ts';
import { AT_ONCE } from '../plan/closing.ts';
import { type ProgramInputs, programFamily } from './program-family.ts';

describe('sync/program-family', () => {
  it('follows endpoints of virtual servers that stand where rules would name a set that is not there', async () => {
    const memory = memoryKernel({ eth0: ['192.168.0.10/24'], 'kube-ipvs0': [] });
    const kernel = new Kernel(memory, ['IPv4'], () => 0);
    const steps = new DesiredSteps();
    const port = servicePort();
    const program = async (desired: Desired) => {
      await kernel.refresh();
      const inputs: ProgramInputs = {
        desired,
        remembered: steps.state.touched,
        settings: settings(),
        heldBack: [],
        scope: 'everything',
        isFresh: true,
        draining: PATIENT,
        closing: { stays: AT_ONCE, begin: () => {} },
        halfMade: new Set(),
        kernel,
        unreadable: undefined,
      };
      return programFamily(inputs);
    };
    expect((await program(steps.to([[port, [endpoint()]]]))).error).to.equal(undefined);
    const moved = steps.to([
      [port, [endpoint({ address: ip('10.180.1.9') })]],
      [servicePort({ name: 'shop/new', clusterIP: ip('172.20.1.2') }), []],
    ]);
    const { tables } = moved.kernel;
    const chains = new Map([...tables.nat.chains, ['KUBE-MARK-MASQ', ['-m set --match-set KUBE-LOST dst -j RETURN']]]);
    const wrong = { ...tables, nat: { ...tables.nat, chains } } as typeof tables;
    const programmed = await program({ ...moved, kernel: { ...moved.kernel, tables: wrong } });
    expect(programmed.error).to.deep.equal({
      during: 'checking the plan',
      message: 'a rule of chain KUBE-MARK-MASQ in table nat names set KUBE-LOST, which is not there',
    });
    expect(memory.ipvs.save().trim().split('\n')).to.deep.equal([
      '-A -t 172.20.1.1:80 -s rr',
      '-a -t 172.20.1.1:80 -r 10.180.1.1:8080 -m -w 0',
      '-a -t 172.20.1.1:80 -r 10.180.1.9:8080 -m -w 1',
    ]);
    expect(memory.ipsets.save()).to.not.include('172.20.1.2');
  });
});
