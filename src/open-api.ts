import type { ProxyConfig } from './config/proxy-config.ts';
import { openTransport, type RequestSample } from './kube/client.ts';
import { readKubeconfig } from './kube/client-config.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import { fail, type Result, succeed } from './model/result.ts';
import { systemClock } from './queue/clock.ts';

/** The API server that the configuration names. The error is one line for a person; so is what `warn` is told. */
export async function openApi(
  config: ProxyConfig,
  version: string,
  warn: (message: string) => void,
  observe: (sample: RequestSample) => void = () => {},
): Promise<Result<ApiTransport, string>> {
  const kubeconfig = config.clientConnection.kubeconfig ?? '';
  const opened = openTransport({
    kubeconfig,
    text: await readKubeconfig(kubeconfig),
    master: config.master ?? '',
    userAgent: `ipvs-proxier/${version}`,
    otherServers: config.apiServers,
    limits: config.clientConnection,
    clock: systemClock,
    observe,
    anonymous: () => warn('there are no credentials for the API server; requests to it are anonymous'),
  });
  return opened.ok ? succeed(opened.value) : fail(`${opened.error.source}: ${opened.error.message}`);
}
