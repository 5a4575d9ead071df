import type { Host } from './host.ts';

/** Legacy iptables takes this lock, so that programs which restore rules do not overwrite each other. */
const LOCK = '/run/xtables.lock';

/**
 * A warning where programs outside this container have another file as lock of the rules; `undefined` when they have the same one, when
 * iptables is one that needs none, or when that cannot be told. On a host itself the folder is never part of an overlay.
 */
export async function ruleLockWarning(host: Host): Promise<string | undefined> {
  const [mounts, asked] = await Promise.all([
    host.readText('/proc/self/mountinfo'),
    host.runTool({ tool: 'iptables', args: ['--version'], timeoutMs: 30_000 }),
  ]);
  if (!mounts.ok || !asked.ok || asked.value.stdout.includes('nf_tables')) return undefined;
  const type = fileSystemOf(LOCK, mounts.value);
  return type !== undefined && OF_CONTAINERS.has(type) ? `${LOCK} ${NOT_SHARED}` : undefined;
}

const NOT_SHARED =
  "is not the node's: others may overwrite rules while they are written; mount the file of the host there, as the manifests do";

const OF_CONTAINERS: ReadonlySet<string> = new Set(['overlay', 'aufs', 'fuse.fuse-overlayfs']);

/** Type of the file system that holds a path, by lines such as `36 35 98:0 /root /mount rw shared:1 - ext4 /dev/sda rw`. */
function fileSystemOf(path: string, mounts: string): string | undefined {
  let [deepest, type] = ['', undefined as string | undefined];
  for (const line of mounts.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , , mountPoint = ''] = before.split(' ');
    const holds = mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`);
    if (mountPoint === '' || !holds || mountPoint.length < deepest.length) continue;
    [deepest, type] = [mountPoint, after.split(' ')[0]];
  }
  return type;
}
