import { expect } from 'chai';
import { servicePort } from '../../test/builders/objects.ts';
import { type IpvsDetail, type IpvsTexts, ipvsPage } from './ipvs-page.ts';

const HEAD = 'one\ntwo\nthree\n';

describe('observe/ipvs-page', () => {
  const texts: IpvsTexts = {
    counters: `${HEAD}TCP  172.20.1.1:80  3 12 10 1200 900\n  -> 10.180.0.1:8080  2 8 6 800 600\nTCP  192.0.2.1:80  9 9 9 9 9\n`,
    connections: `${HEAD}TCP  AC140101:0050 rr\n  -> 0AB40001:1F90 Masq 1 4 5\n`,
  };
  const ownerOf = (frontend: string) => (frontend.includes(' 192.0.2.1:') ? undefined : servicePort());

  async function pieces(given: IpvsTexts, detail: IpvsDetail, pace = () => undefined as Promise<void> | undefined) {
    const all: string[] = [];
    for await (const piece of ipvsPage(given, detail, ownerOf, pace)) all.push(String(piece));
    return all;
  }

  it('names the Service, its port, the frontend and the backend; what is not ours is left out', async () => {
    const text = (await pieces(texts, 'backends')).join('');
    const labels = 'namespace="shop",service="cart",port="http",protocol="TCP",frontend="172.20.1.1:80"';
    expect(text.split('\n')).to.include.members([
      '# TYPE ipvs_proxier_virtual_server_connections_total counter',
      `ipvs_proxier_virtual_server_connections_total{${labels}} 3`,
      `ipvs_proxier_virtual_server_outgoing_bytes_total{${labels}} 900`,
      `ipvs_proxier_real_server_incoming_packets_total{${labels},backend="10.180.0.1:8080"} 8`,
      '# TYPE ipvs_proxier_real_server_active_connections gauge',
      `ipvs_proxier_real_server_active_connections{${labels},backend="10.180.0.1:8080"} 4`,
      `ipvs_proxier_real_server_inactive_connections{${labels},backend="10.180.0.1:8080"} 5`,
    ]);
    expect(text).to.not.include('192.0.2.1');
  });

  it('has each metric once, all its series below it, in the order of the kernel', async () => {
    const counters = `${texts.counters}UDP  [fd00:20::1]:53  7 1 2 3 12345678901\n  -> [fd00:180::1]:53  5 0 0 0 9007199254740991\n`;
    const connections = `${HEAD}TCP  AC140101:0050 rr\n  -> 0AB40001:1F90 Masq 1 4 5\nFWM  00000007 rr\n  -> 0AB40001:1F90 Masq 1 9 9\n`;
    const lines = (await pieces({ counters, connections }, 'backends')).join('').split('\n');
    const ours = 'namespace="shop",service="cart",port="http",protocol="TCP"';
    const [first, second] = [`${ours},frontend="172.20.1.1:80"`, `${ours},frontend="[fd00:20::1]:53"`];
    const backend = `{${first},backend="10.180.0.1:8080"}`;
    expect(lines.slice(-15, -7)).to.deep.equal([
      '# HELP ipvs_proxier_virtual_server_outgoing_bytes_total Bytes to clients of a virtual server',
      '# TYPE ipvs_proxier_virtual_server_outgoing_bytes_total counter',
      `ipvs_proxier_virtual_server_outgoing_bytes_total{${first}} 900`,
      `ipvs_proxier_virtual_server_outgoing_bytes_total{${second}} 12345678901`,
      '# HELP ipvs_proxier_real_server_outgoing_bytes_total Bytes to clients of a real server',
      '# TYPE ipvs_proxier_real_server_outgoing_bytes_total counter',
      `ipvs_proxier_real_server_outgoing_bytes_total${backend} 600`,
      `ipvs_proxier_real_server_outgoing_bytes_total{${second},backend="[fd00:180::1]:53"} 9007199254740991`,
    ]);
    expect(lines).to.have.lengthOf(5 * 8 + 2 * 3 + 1);
    expect(lines.slice(-7)).to.deep.equal([
      '# HELP ipvs_proxier_real_server_active_connections Established connections of a real server',
      '# TYPE ipvs_proxier_real_server_active_connections gauge',
      `ipvs_proxier_real_server_active_connections${backend} 4`,
      '# HELP ipvs_proxier_real_server_inactive_connections Connections that are neither new nor established of a real server',
      '# TYPE ipvs_proxier_real_server_inactive_connections gauge',
      `ipvs_proxier_real_server_inactive_connections${backend} 5`,
      '',
    ]);
  });

  it('goes as far as it is asked to', async () => {
    expect(await pieces(texts, 'off')).to.deep.equal([]);
    expect((await pieces(texts, 'services')).join('')).to.not.include('real_server');
  });

  it('gives nothing at all of a text that is not understood', async () => {
    expect(await pieces({ ...texts, counters: `${texts.counters}TCP  172.20.1.2:80  rr\n` }, 'backends')).to.deep.equal(
      [],
    );
  });

  it('lets others run between any two rows that it reads, and between pieces of 500 lines', async () => {
    const rows = Array.from({ length: 1200 }, (_, index) => `TCP  172.20.${index >> 8}.${index & 255}:80  1 1 1 1 1\n`);
    let rests = 0;
    const rest = () => {
      rests += 1;
      return undefined;
    };
    const all = await pieces({ counters: HEAD + rows.join(''), connections: HEAD }, 'backends', rest);
    expect(all).to.have.lengthOf(5 * 3);
    expect(Math.max(...all.map((piece) => piece.split('\n').length))).to.be.at.most(503);
    expect(rests).to.equal(1200 + 5 * 3);
  });
});
