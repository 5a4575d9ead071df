import type { MemoryKernel } from '../memory-kernel.ts';

export const FOREIGN_ADDRESS = '10.99.0.2';
export const FOREIGN_SERVER = '-t 10.99.0.1:80';

/** A set, a chain and rules of somebody else; no pass may touch them. */
export function putForeignRules({ ipsets, tables }: MemoryKernel): void {
  ipsets.restore('create OTHERS hash:ip family inet hashsize 1024 maxelem 65536\nadd OTHERS 10.9.9.9\n');
  tables.IPv4.restore(
    '*filter\n:THEIRS - [0:0]\n-A THEIRS -j RETURN\n-A INPUT -m set --match-set OTHERS src -j DROP\nCOMMIT\n',
  );
}

/** A virtual server and an address on our interface; under kube-proxy's behaviour they would be ours. */
export function putForeignServer({ ipvs, addresses }: MemoryKernel): void {
  ipvs.restore(`-A ${FOREIGN_SERVER} -s rr\n-a ${FOREIGN_SERVER} -r 10.99.1.1:80 -m -w 1\n`);
  addresses.put('kube-ipvs0', `${FOREIGN_ADDRESS}/32`);
}
