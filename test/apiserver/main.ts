#!/usr/bin/env node
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startApiServer } from './server.ts';

const { values } = parseArgs({
  options: {
    address: { type: 'string', multiple: true, default: ['127.0.0.1'] },
    port: { type: 'string', default: '0' },
    kubeconfig: { type: 'string' },
    token: { type: 'string' },
  },
});

const { address, port, kubeconfig, token } = values;
const api = await startApiServer({ addresses: address, port: Number(port), ...(token === undefined ? {} : { token }) });
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void api.stop());
if (kubeconfig !== undefined) await writeFile(kubeconfig, api.kubeconfig(), { mode: 0o600 });
process.stdout.write(`listening on ${api.url}\n`);
