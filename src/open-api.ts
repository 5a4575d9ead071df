import type { ProxyConfig } from './config/proxy-config.ts';
import { openTransport, type RequestSample } from './kube/client.ts';
import { readKubeconfig } from './kube/client-config.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import { fail, type Result, succeed } from './model/result.ts';
import { systemClock } from './queue/clock.ts';

/** The API server that the configuration names. The error is one line for a person. */
export async function openApi(
  config: ProxyConfig,
  version: string,
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
  });
  return opened.ok ? succeed(opened.value) : fail(`${opened.error.source}: ${opened.error.message}`);
}
