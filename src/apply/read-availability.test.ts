import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { type MachineSketch, machine } from './files-fixture.ts';
import { readAvailability, readHasNftables } from './read-availability.ts';

describe('apply/read-availability', () => {
  const FOLDER = '/lib/modules/6.1.0';
  const DEP = `${FOLDER}/modules.dep`;
  const file = 'kernel/net/netfilter/ipvs/ip_vs_wrr.ko';
  const read = (sketch: MachineSketch) => readAvailability(machine(sketch), '6.1.0', 'ip_vs_wrr', 'ip_vs_wrr_schedule');
  const cases: readonly (readonly [name: string, MachineSketch, 'there' | 'loadable' | 'missing'])[] = [
    ['is there when it is loaded', { refused: { '/sys/module/ip_vs_wrr': 'EISDIR' } }, 'there'],
    ['is there when it is built in', { files: { [`${FOLDER}/modules.builtin`]: `${file}\n` } }, 'there'],
    [
      'can be loaded from a file, packed too',
      { files: { [DEP]: `kernel/a.ko:\n${file}.xz: kernel/ip_vs.ko.xz\n` } },
      'loadable',
    ],
    ['is missing where it is only needed by others', { files: { [DEP]: `kernel/a.ko: ${file}\n` } }, 'missing'],
    [
      'is there when the kernel lists its function',
      { files: { '/proc/kallsyms': '0000 t ip_vs_wrr_schedule\n' } },
      'there',
    ],
    [
      'is missing when no list has it',
      { files: { [DEP]: '', '/proc/kallsyms': '0000 t ip_vs_wrr_scheduler\n' } },
      'missing',
    ],
  ];
  for (const [name, sketch, expected] of cases) {
    it(name, async () => expect(await read(sketch)).to.deep.equal(succeed(expected)));
  }

  it('is missing on a kernel without modules that does not list it', async () => {
    const files = { '/proc/kallsyms': '0000 t other\n' };
    expect(await read({ files })).to.deep.equal(succeed('missing'));
    expect((await read({ files: { ...files, '/proc/modules': '' } })).ok).to.equal(false);
  });

  it('sees rules of nft that are built in, and says so where nothing tells', async () => {
    const has = (sketch: MachineSketch) => readHasNftables(machine(sketch));
    expect(await has({ files: { '/proc/kallsyms': '0000 t nf_tables_newtable\n' } })).to.deep.equal(succeed(true));
    expect(await has({ files: { '/proc/kallsyms': '0000 t other\n' } })).to.deep.equal(succeed(false));
    expect(await has({ refused: { '/sys/module/nf_tables': 'EISDIR' } })).to.deep.equal(succeed(true));
    expect(await has({})).to.deep.equal(fail('whether the kernel has nf_tables is not known: /proc/kallsyms: ENOENT'));
  });

  it('is not known where nothing tells', async () => {
    expect(await read({})).to.deep.equal(
      fail(`neither the kernel's list of symbols nor ${FOLDER} has it, and the folder is not complete here`),
    );
  });
});
