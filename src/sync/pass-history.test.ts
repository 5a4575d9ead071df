import { expect } from 'chai';
import type { RealServerKey, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { ServiceName } from '../model/names.ts';
import type { TakenService } from '../queue/queue-entry.ts';
import { PassHistory } from './pass-history.ts';
import type { PassReport } from './proxier.ts';

describe('sync/pass-history', () => {
  const REPORT: PassReport = {
    kind: 'normal',
    reasons: ['services', 'endpoints'],
    tookMs: 12.4,
    families: [],
    errors: [],
    refusals: [],
  };
  const taken = (service: string, level: TakenService['level']): TakenService => ({
    service,
    level,
    kinds: [],
    firstEventMs: 0,
    events: 1,
    failures: 0,
    why: 'due',
  });
  const refusal = {
    service: 'shop/cart' as ServiceName,
    refused: {
      kind: 'real-server',
      server: 'TCP 172.20.1.1:80' as VirtualServerKey,
      real: '10.0.0.255:80' as RealServerKey,
    },
    message: 'Invalid operation.',
  } as const;

  it('tells of the latest pass why it ran, for whom, and how long it took', () => {
    const history = new PassHistory();
    expect(history.latest).to.equal(undefined);
    history.ran(REPORT, [taken('a/b', 'low'), taken('a/c', 'high')], 'now');
    expect(history.latest).to.deep.equal({
      at: 'now',
      kind: 'normal',
      reasons: ['endpoints', 'services'],
      level: 'high',
      services: 0,
      ms: 12,
      steps: {},
      errors: [],
    });
    expect(history.notable).to.deep.equal([]);
  });

  it('keeps the last ten that failed, the latest first', () => {
    const history = new PassHistory();
    const errors = [{ during: 'reading the kernel', message: 'no' }];
    for (let turn = 1; turn <= 12; turn += 1) history.ran({ ...REPORT, errors }, [], `${turn}`);
    expect(history.notable.map(({ at }) => at)).to.deep.equal(['12', '11', '10', '9', '8', '7', '6', '5', '4', '3']);
    expect(history.latest?.errors).to.deep.equal(['reading the kernel: no']);
    expect(history.latest).to.not.have.property('level');
  });

  it('remembers why a Service was refused until it has been tried again', () => {
    const history = new PassHistory();
    history.ran({ ...REPORT, refusals: [refusal] }, [taken('shop/cart', 'high')], '1');
    const why = 'real server 10.0.0.255:80 of TCP 172.20.1.1:80: Invalid operation.';
    expect(history.whyRefused('shop/cart')).to.equal(why);
    expect(history.notable[0]?.errors).to.deep.equal([`shop/cart: ${why}`]);
    history.ran(REPORT, [taken('a/b', 'low')], '2');
    expect(history.whyRefused('shop/cart')).to.equal(why);
    history.ran(REPORT, [taken('shop/cart', 'low')], '3');
    expect(history.whyRefused('shop/cart')).to.equal(undefined);
  });

  it('keeps the last ten things that others had changed', () => {
    const history = new PassHistory();
    for (let turn = 1; turn <= 11; turn += 1) history.drifted(['set A'], `${turn}`);
    expect([history.noticed.length, history.noticed[0]]).to.deep.equal([10, { at: '11', things: ['set A'] }]);
  });
});
