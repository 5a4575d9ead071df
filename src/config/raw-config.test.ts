import { expect } from 'chai';
import { formatPath, getField, withField, withoutField, withoutNulls } from './raw-config.ts';

describe('config/raw-config', () => {
  it('drops null fields at any depth and keeps everything else', () =>
    expect(withoutNulls({ a: null, b: { c: null, d: 0 }, e: [null], f: '' })).to.deep.equal({
      b: { d: 0 },
      e: [null],
      f: '',
    }));

  it('sets a field inside sections that are missing or no section, and leaves the original alone', () => {
    const raw = { ipvs: { scheduler: 'rr' }, iptables: 5 };
    expect(withField(raw, ['ipvs', 'strictARP'], true)).to.deep.equal({
      ipvs: { scheduler: 'rr', strictARP: true },
      iptables: 5,
    });
    expect(withField(raw, ['iptables', 'masqueradeBit'], 1).iptables).to.deep.equal({ masqueradeBit: 1 });
    expect(withField(raw, ['mode'], 'ipvs').mode).to.equal('ipvs');
    expect(raw).to.deep.equal({ ipvs: { scheduler: 'rr' }, iptables: 5 });
  });

  it('removes a field, or the list that the path leads into', () => {
    const raw = { ipvs: { scheduler: 'rr', excludeCIDRs: ['a', 'b'] } };
    expect(withoutField(raw, ['ipvs', 'scheduler'])).to.deep.equal({ ipvs: { excludeCIDRs: ['a', 'b'] } });
    expect(withoutField(raw, ['ipvs', 'excludeCIDRs', 1])).to.deep.equal({ ipvs: { scheduler: 'rr' } });
    expect(withoutField(raw, ['mode'])).to.deep.equal(raw);
  });

  it('gets a field, or undefined when a section on the way is missing', () => {
    expect(getField({ a: { b: 1 } }, ['a', 'b'])).to.equal(1);
    expect(getField({ a: 5 }, ['a', 'b'])).to.equal(undefined);
  });

  it('writes paths as people do', () =>
    expect(formatPath(['logging', 'vmodule', 0, 'verbosity'])).to.equal('logging.vmodule[0].verbosity'));
});
