import { startApiServer } from '../apiserver/server.ts';
import type { ApiAccess } from './api-client.ts';
import type { FamilyMode } from './plan.ts';

/** An API server that the nodes of the lab reach, and that can be away for a while. */
export interface ControlPlane {
  /** For the summary, such as 'the API server of the tests'. */
  readonly name: string;
  access(): ApiAccess;
  kubeconfig(): string;
  /** Breaks all connections and takes no new ones. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

/** Where the test process is seen from the nodes. */
export const API_ADDRESS: Readonly<Record<FamilyMode, string>> = {
  ipv4: '192.168.0.1',
  ipv6: 'fd00:168::1',
  dual: '192.168.0.1',
};

export async function startFixture(mode: FamilyMode): Promise<ControlPlane> {
  const address = API_ADDRESS[mode];
  const server = await startApiServer({ addresses: [address], certificateAddresses: [address] });
  return {
    name: 'the API server of the tests',
    access: () => ({ url: server.url, ca: server.ca }),
    kubeconfig: () => server.kubeconfig(),
    goAway: () => server.stopAccepting(),
    comeBack: () => server.startAccepting(),
    stop: () => server.stop(),
  };
}
