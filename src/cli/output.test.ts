import { expect } from 'chai';
import { parse } from 'yaml';
import { ip, port } from '../../test/builders/net.ts';
import { nodeView, portSpec, service, settings, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { wantedSysctls } from '../kernel/sysctl/wanted.ts';
import { FAMILIES } from '../net/family.ts';
import { computeOnce } from '../sync/compute-once.ts';
import { type DryRun, formatDryRun, OUTPUT_FORMS, type OutputForm } from './output.ts';

describe('cli/output', () => {
  const cart = service({ addresses: ['172.20.1.1', 'fd00:20::1'], affinitySeconds: 600 });
  const lb = service({
    name: 'shop/lb',
    type: 'LoadBalancer',
    addresses: ['172.20.1.2'],
    ports: [portSpec({ port: port(443) })],
    externalTrafficPolicy: 'Local',
    loadBalancerVIPs: [ip('203.0.113.9')],
    healthCheckNodePort: port(32000),
  });
  const slices = [
    slice({ endpoints: [sliceEndpoint('10.180.0.2'), sliceEndpoint('10.180.0.1', { nodeName: 'node-a' })] }),
    slice({ name: 'shop/lb-1', service: 'shop/lb', endpoints: [sliceEndpoint('10.180.0.3', { nodeName: 'node-a' })] }),
  ];

  function dryRun(services = [cart, lb], parts = slices): DryRun {
    return {
      families: computeOnce({ services, slices: parts }, nodeView(), FAMILIES, settings()),
      sysctls: wantedSysctls('6.1.0', false),
      warnings: [{ object: 'Service shop/x', field: 'spec.ports', message: 'has no port' }],
    };
  }

  function textOf(of: DryRun, form: OutputForm): string {
    return [...formatDryRun(of, form)].join('');
  }

  it('has forms that can be piped into the tool they are named after', () => {
    expect(textOf(dryRun(), 'ipvs')).to.equal(
      `-A -t 172.20.1.1:80 -s rr -p 600
-A -t 172.20.1.2:443 -s rr
-A -t 203.0.113.9:443 -s rr
-A -t [fd00:20::1]:80 -s rr -p 600
-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1
-a -t 172.20.1.1:80 -r 10.180.0.2:8080 -m -w 1
-a -t 172.20.1.2:443 -r 10.180.0.3:8080 -m -w 1
-a -t 203.0.113.9:443 -r 10.180.0.3:8080 -m -w 1
`,
    );
    expect(textOf(dryRun(), 'address')).to.equal(
      `link add kube-ipvs0 type dummy
address replace 172.20.1.1/32 dev kube-ipvs0
address replace 172.20.1.2/32 dev kube-ipvs0
address replace 203.0.113.9/32 dev kube-ipvs0
address replace fd00:20::1/128 dev kube-ipvs0
`,
    );
    expect(textOf(dryRun(), 'ipset').split('\n')).to.include.members([
      'create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536',
      'add KUBE-6-CLUSTER-IP fd00:20::1,6:80',
      'add KUBE-LOOP-BACK 10.180.0.1,6:8080,10.180.0.1',
    ]);
    expect(textOf(dryRun(), 'iptables').split('\n')).to.include('-A KUBE-SERVICES -s 127.0.0.0/8 -j RETURN');
    expect(textOf(dryRun(), 'ip6tables').split('\n')).to.include('-A KUBE-SERVICES -s ::1/128 -j RETURN');
  });

  it('has a form for people, in the order in which a node is programmed', () => {
    const lines = textOf(dryRun(), 'script').split('\n');
    expect(lines.filter((line) => line.startsWith('#'))).to.deep.equal([
      '# sysctl: sysctl -p -',
      '# sets: ipset -exist restore',
      '# rules, IPv4: iptables-restore --noflush',
      '# rules, IPv6: ip6tables-restore --noflush',
      '# virtual servers and real servers: ipvsadm -R',
      '# addresses: ip -batch -',
      '# health check ports',
      '# 32000 shop/lb, IPv4: local endpoints: 1',
    ]);
    for (const form of ['ipset', 'iptables', 'ip6tables', 'ipvs', 'address'] as const) {
      expect(lines.join('\n')).to.include(textOf(dryRun(), form));
    }
  });

  it('says so in the form for people where a tool has nothing to do', () => {
    const nothing = textOf({ families: [], sysctls: [], warnings: [] }, 'script');
    expect(nothing.split('\n').filter((line) => line === '# nothing')).to.have.lengthOf(5);
    expect(nothing).to.not.include('health check');
  });

  it('has a form for machines with scripts, health checks, warnings and state', () => {
    const json = JSON.parse(textOf(dryRun(), 'json'));
    expect(Object.keys(json)).to.deep.equal(['scripts', 'healthChecks', 'warnings', 'state']);
    expect(Object.keys(json.scripts)).to.have.members(['ipvs', 'ipset', 'address', 'iptables', 'ip6tables']);
    expect(json.scripts.ipvs).to.equal(textOf(dryRun(), 'ipvs'));
    expect(json.healthChecks).to.deep.equal([{ service: 'shop/lb', family: 'IPv4', port: 32000, localEndpoints: 1 }]);
    expect(json.warnings).to.deep.equal([{ object: 'Service shop/x', field: 'spec.ports', message: 'has no port' }]);
    expect(Object.keys(json.state)).to.deep.equal(['IPv4', 'IPv6']);
    expect(Object.keys(json.state.IPv4)).to.deep.equal(['virtualServers', 'boundAddresses', 'sets', 'chains']);
    expect(json.state.IPv4.virtualServers[0]).to.deep.equal({
      protocol: 'TCP',
      address: '172.20.1.1',
      port: 80,
      scheduler: 'rr',
      schedulerFlags: [],
      persistenceSeconds: 600,
      realServers: [
        { address: '10.180.0.1', port: 8080, weight: 1 },
        { address: '10.180.0.2', port: 8080, weight: 1 },
      ],
    });
    expect(json.state.IPv4.boundAddresses).to.deep.equal(['172.20.1.1', '172.20.1.2', '203.0.113.9']);
    expect(json.state.IPv4.sets['KUBE-CLUSTER-IP']).to.deep.equal({
      type: 'hash:ip,port',
      entries: ['172.20.1.1,tcp:80', '172.20.1.2,tcp:443'],
    });
    expect(Object.keys(json.state.IPv6.sets)).to.have.lengthOf(20);
    expect(json.state.IPv6.chains.nat['KUBE-MARK-MASQ']).to.deep.equal(['-j MARK --set-xmark 0x4000/0x4000']);
  });

  it('names the family of each health check of a Service that has both', () => {
    const both = { ...lb, clusterIPs: { IPv4: ip('172.20.1.2'), IPv6: ip('fd00:20::2') } };
    const json = JSON.parse(textOf(dryRun([both]), 'json'));
    expect(json.healthChecks).to.deep.equal([
      { service: 'shop/lb', family: 'IPv4', port: 32000, localEndpoints: 1 },
      { service: 'shop/lb', family: 'IPv6', port: 32000, localEndpoints: 0 },
    ]);
  });

  it('tells flags of schedulers to machines', () => {
    const families = computeOnce({ services: [cart], slices: [] }, nodeView(), ['IPv4'], settings({ scheduler: 'mh' }));
    const json = JSON.parse(textOf({ families, sysctls: [], warnings: [] }, 'json'));
    expect(json.state.IPv4.virtualServers[0]).to.deep.include({ scheduler: 'mh', schedulerFlags: ['mh-port'] });
  });

  it('says the same in YAML as in JSON, without aliases', () => {
    const yaml = textOf(dryRun(), 'yaml');
    expect(parse(yaml)).to.deep.equal(JSON.parse(textOf(dryRun(), 'json')));
    expect(yaml).to.not.match(/[:-] [&*]\w+$/m);
  });

  for (const form of OUTPUT_FORMS) {
    it(`gives the same bytes as ${form} whatever the order of the objects, and ends in a line feed`, () => {
      const reordered = dryRun([lb, cart], [...slices].reverse());
      expect(textOf(reordered, form)).to.equal(textOf(dryRun(), form));
      expect(textOf(dryRun(), form)).to.match(/[^\n]\n$/);
    });
  }
});
