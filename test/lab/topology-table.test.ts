import { expect } from 'chai';
import { execa } from 'execa';
import { expectedLines, linesOfRow, loadRowGroups, programRows, ROW_NODE_LINKS } from '../kernel/topology-rows.ts';
import { requireLab } from './in-lab.ts';
import { sortedLines } from './kernel-state.ts';
import { netnsHost } from './netns-host.ts';

const NAMESPACE = 'table';

describe('test/lab/topology-table', () => {
  before(requireLab);

  for (const group of loadRowGroups()) {
    describe(`a node in ${JSON.stringify(group.node.zone)} as its zone`, () => {
      let lines: readonly string[] = [];

      before('one pass over all rows in the real kernel', async () => {
        await makeNode();
        await programRows(group, netnsHost(NAMESPACE));
        const { stdout } = await execa('nsenter', [`--net=/run/netns/${NAMESPACE}`, 'ipvsadm', '-Sn']);
        lines = sortedLines(stdout);
      });
      after('the namespace', () => execa('ip', ['netns', 'delete', NAMESPACE]));

      for (const row of group.rows) {
        it(`has real servers in the real kernel as row ${row.name} says`, () => {
          expect(linesOfRow(row, lines)).to.deep.equal(expectedLines(row));
        });
      }
    });
  }
});

async function makeNode(): Promise<void> {
  const addresses = (ROW_NODE_LINKS.eth0 ?? []).map((address) => `address add ${address} dev eth0`);
  await execa('ip', ['netns', 'add', NAMESPACE]);
  await execa('ip', ['-n', NAMESPACE, '-batch', '-'], {
    input: ['link set lo up', 'link add eth0 type dummy', 'link set eth0 up', ...addresses].join('\n'),
  });
}
