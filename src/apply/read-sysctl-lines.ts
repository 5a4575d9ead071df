import type { Fact, SysctlLine } from '../doctor/facts.ts';
import { fail, succeed } from '../model/result.ts';
import type { FolderHost } from './host.ts';

/**
 * Lines of the files that `sysctl --system` reads, in its order: by name, whatever the folder; of two files with one name the one in the
 * first folder counts. Inside a container these are files of the container, and mostly there are none.
 */
export async function readSysctlLines(host: FolderHost): Promise<Fact<readonly SysctlLine[]>> {
  const files = new Map<string, string>();
  for (const folder of FOLDERS) {
    const listed = await host.listFolder(folder);
    if (!listed.ok) continue;
    for (const name of listed.value) {
      if (name.endsWith('.conf') && !files.has(name)) files.set(name, `${folder}/${name}`);
    }
  }
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, path]) => path);
  const lines: SysctlLine[] = [];
  let isThere = false;
  for (const file of [...sorted, '/etc/sysctl.conf']) {
    const text = await host.readText(file);
    if (!text.ok) continue;
    isThere = true;
    lines.push(...linesOf(file, text.value));
  }
  return isThere ? succeed(lines) : fail('there are none here; in a container those of the host are not seen');
}

const FOLDERS = ['/etc/sysctl.d', '/run/sysctl.d', '/usr/local/lib/sysctl.d', '/usr/lib/sysctl.d', '/lib/sysctl.d'];

/** `net.ipv4.ip_forward = 1`, or with slashes; `-` in front passes over errors. */
function linesOf(file: string, text: string): readonly SysctlLine[] {
  return text.split('\n').flatMap((line, index) => {
    const [, name, value] = /^\s*-?\s*([\w./*-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    const path = name.includes('/') ? name : name.replaceAll('.', '/');
    return [{ file, line: index + 1, path, value }];
  });
}
