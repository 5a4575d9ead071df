import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { type MachineSketch, machine } from './files-fixture.ts';
import { readAvailability } from './read-availability.ts';

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

  it('is not known where nothing tells', async () => {
    expect(await read({})).to.deep.equal(
      fail(`neither the kernel's list of symbols nor ${FOLDER} has it, and the folder is not complete here`),
    );
  });
});
