import { execa } from 'execa';
import { type Host, runProcess } from '../../src/apply/host.ts';
import { fail, succeed } from '../../src/model/result.ts';

/** A network namespace of the lab in place of the machine: the program's own tools, started inside it. */
export function netnsHost(namespace: string): Host {
  const inside = ['nsenter', `--net=/run/netns/${namespace}`];
  return {
    runTool: (call) => runProcess(call, inside),
    readText: async (path) => {
      const { stdout, exitCode } = await execa('nsenter', [...inside.slice(1), 'cat', path], {
        reject: false,
        stripFinalNewline: false,
      });
      return exitCode === 0 ? succeed(stdout) : fail({ kind: 'file-failed', path, code: 'ENOENT' });
    },
    writeText: async (path) => fail({ kind: 'file-failed', path, code: 'EROFS' }),
  };
}
