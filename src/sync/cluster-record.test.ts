import { expect } from 'chai';
import { service, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import type { Service } from '../model/service.ts';
import { ClusterRecord } from './cluster-record.ts';

describe('sync/cluster-record', () => {
  const cart = service();
  const headless = service({ clusterIP: 'None', addresses: [] });
  let record: ClusterRecord;

  beforeEach(() => {
    record = new ClusterRecord(['IPv4', 'IPv6'], 'node-a');
  });

  const cases: readonly (readonly [string, Service | undefined, Service | undefined, string])[] = [
    ['a Service that comes', undefined, cart, 'material'],
    ['one that goes', cart, undefined, 'material'],
    ['one that becomes headless', cart, headless, 'material'],
    ['one that is headless no more', headless, cart, 'material'],
    ['one of which nothing changes that the kernel depends on', cart, { ...cart, createdAt: '' }, 'immaterial'],
    ['one that comes headless', undefined, headless, 'not-ours'],
    ['one that stays headless', headless, { ...headless, affinitySeconds: 60 }, 'not-ours'],
    ['one that was headless and goes', headless, undefined, 'not-ours'],
    ['nothing', undefined, undefined, 'immaterial'],
  ];
  for (const [name, previous, current, kind] of cases) {
    it(`calls ${name} ${kind}`, () => {
      if (previous) record.service(undefined, previous);
      expect(record.service(previous, current).kind).to.equal(kind);
    });
  }

  it('takes a Service for served that one family alone serves', () => {
    const six = service({ addresses: ['fd00:20::1'] });
    expect(record.service(undefined, six).kind).to.equal('material');
    expect(record.service(six, { ...six }).kind).to.equal('immaterial');
  });

  it('calls slices not ours until their Service is served, and again from then on when it has gone', () => {
    const endpoints = (last: number) => slice({ endpoints: [sliceEndpoint(`10.180.0.${last}`)] });
    expect(record.slice(undefined, endpoints(1)).kind).to.equal('not-ours');
    record.service(undefined, cart);
    expect(record.slice(endpoints(1), endpoints(1)).kind).to.equal('immaterial');
    expect(record.slice(endpoints(1), endpoints(2)).kind).to.equal('material');
    record.service(cart, undefined);
    expect(record.slice(endpoints(2), endpoints(3)).kind).to.equal('not-ours');
  });
});
