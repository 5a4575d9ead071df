import { expect } from 'chai';
import { renderSysctls } from './render.ts';

describe('kernel/sysctl/render', () => {
  it('writes settings as sysctl reads them, in their order', () => {
    const settings = [
      { path: 'net/ipv4/ip_forward', value: '1', need: 'required' },
      { path: 'net/ipv4/conf/all/arp_announce', value: '2', need: 'optional' },
    ] as const;
    expect(renderSysctls(settings)).to.equal('net.ipv4.ip_forward=1\nnet.ipv4.conf.all.arp_announce=2\n');
  });

  it('writes nothing for nothing', () => expect(renderSysctls([])).to.equal(''));
});
