import { expect } from 'chai';
import fc from 'fast-check';
import { port } from '../../test/builders/net.ts';
import { portSpec, service } from '../../test/builders/objects.ts';
import type { Service } from '../model/service.ts';
import { ServiceChanges } from './service-changes.ts';
import { servicePorts } from './service-ports.ts';

describe('tracking/service-changes', () => {
  let changes: ServiceChanges;
  const http = portSpec();
  const https = portSpec({ name: 'https', port: port(443) });
  const a = service({ ports: [http] });
  const b = service({ ports: [http, https] });

  beforeEach(() => {
    changes = new ServiceChanges('IPv4');
  });

  function keys(): string[] {
    return [...changes.take().ports.keys()];
  }

  it('adds the ports of a new Service at the next pass, and names it', () => {
    expect(changes.record(undefined, b)).to.equal(true);
    const { ports, changed } = changes.take();
    expect([...ports.keys()]).to.deep.equal(['shop/cart:http/TCP', 'shop/cart:https/TCP']);
    expect([...changed]).to.deep.equal(['shop/cart']);
  });

  it('has nothing left after a pass', () => {
    changes.record(undefined, a);
    changes.take();
    expect(changes.pending).to.equal(0);
    expect([...changes.take().changed]).to.deep.equal([]);
    expect(keys()).to.deep.equal(['shop/cart:http/TCP']);
  });

  it('is left with nothing by a change that is taken back before the pass', () => {
    changes.record(undefined, a);
    changes.take();
    expect(changes.record(a, b)).to.equal(true);
    expect(changes.record(b, a)).to.equal(false);
    expect(changes.pending).to.equal(0);
    expect([...changes.take().changed]).to.deep.equal([]);
  });

  it('is left with nothing by a Service that comes and goes before the pass', () => {
    changes.record(undefined, a);
    expect(changes.record(a, undefined)).to.equal(false);
    expect(keys()).to.deep.equal([]);
  });

  it('compares with what was before the first event, not with the event before', () => {
    const c = service({ ports: [https] });
    changes.record(undefined, a);
    changes.take();
    changes.record(a, b);
    changes.record(b, c);
    expect(changes.pending).to.equal(1);
    expect(keys()).to.deep.equal(['shop/cart:https/TCP']);
  });

  it('still asks for a pass when one Service is as before and another is not', () => {
    const other = service({ name: 'shop/other' });
    changes.record(undefined, other);
    changes.record(undefined, a);
    expect(changes.record(a, undefined)).to.equal(true);
    expect(changes.pending).to.equal(1);
  });

  it('asks for no pass when nothing of a Service has changed, or nothing that counts', () => {
    changes.record(undefined, a);
    changes.take();
    expect(changes.record(a, { ...a })).to.equal(false);
    expect(changes.record(undefined, undefined)).to.equal(false);
    expect(changes.record(undefined, service({ addresses: ['fd00::1'] }))).to.equal(false);
    expect(changes.record(undefined, service({ name: 'shop/headless', clusterIP: 'None' }))).to.equal(false);
  });

  it('tells a Service without ports from one that is not served', () => {
    expect(changes.record(undefined, service({ ports: [] }))).to.equal(true);
    expect([...changes.take().changed]).to.deep.equal(['shop/cart']);
  });

  const removals: readonly (readonly [string, Service, Service | undefined, readonly string[]])[] = [
    ['one port is removed', b, service({ ports: [https] }), ['shop/cart:https/TCP']],
    ['a port is renamed', a, service({ ports: [portSpec({ name: 'web' })] }), ['shop/cart:web/TCP']],
    ['a port changes its protocol', a, service({ ports: [portSpec({ protocol: 'UDP' })] }), ['shop/cart:http/UDP']],
    ['every port is removed', b, service({ ports: [] }), []],
    ['the Service is deleted', b, undefined, []],
    ['the Service becomes an ExternalName', b, service({ type: 'ExternalName' }), []],
    ['the Service becomes headless', b, service({ clusterIP: 'None' }), []],
    ['the Service loses its address of the family', b, service({ addresses: ['fd00::1'] }), []],
  ];
  for (const [name, before, after, left] of removals) {
    it(`removes ports when ${name}, and no port of another Service`, () => {
      changes.record(undefined, service({ name: 'shop/other' }));
      changes.record(undefined, before);
      changes.take();
      changes.record(before, after);
      expect(keys()).to.deep.equal(['shop/other:http/TCP', ...left]);
    });
  }

  it('keeps the identity of ports that have not changed', () => {
    changes.record(undefined, b);
    const before = new Map(changes.take().ports);
    changes.record(b, service({ ports: [http, { ...https, port: port(8443) }] }));
    const after = changes.take().ports;
    const [kept, changed] = [...after].map(([key, each]) => each === before.get(key));
    expect([kept, changed]).to.deep.equal([true, false]);
  });

  it('ends with the ports of the Services that are there, whatever happened before and between passes', () => {
    const versions = fc.constantFrom(
      undefined,
      a,
      b,
      service({ ports: [] }),
      service({ type: 'ExternalName' }),
      service({ addresses: ['fd00::1'] }),
      service({ addresses: ['172.20.1.2'], affinitySeconds: 60 }),
    );
    const event = fc.record({ which: fc.nat(1), version: versions, pass: fc.boolean() });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const tracked = new ServiceChanges('IPv4');
        const there: (Service | undefined)[] = [];
        for (const { which, version, pass } of events) {
          const next = version && { ...version, name: service({ name: `shop/${which}` }).name };
          tracked.record(there[which], next);
          there[which] = next;
          if (pass) tracked.take();
        }
        const wanted = there.flatMap((each) => [...((each && servicePorts(each, 'IPv4')) ?? [])]);
        expect(new Map([...tracked.take().ports].sort(byKey))).to.deep.equal(new Map(wanted.sort(byKey)));
        expect(tracked.pending).to.equal(0);
      }),
    );
  });
});

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
