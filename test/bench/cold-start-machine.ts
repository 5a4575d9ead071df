/**
 * A kernel in memory for a daemon in another process, until standard input ends. Prints the path of its socket: whoever connects sends one
 * {@link Request} and gets the `Result` of it, both as JSON. Usage: node test/bench/cold-start-machine.ts
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startingHost } from '../config/starting-host.ts';
import type { Request } from './ask-machine.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-machine-'));
const path = join(folder, 'socket');
const host = startingHost();
const answer = (request: Request) => {
  host.calls.length = 0;
  switch (request.kind) {
    case 'run':
      return host.runTool(request.call);
    case 'read':
      return host.readText(request.path);
    case 'write':
      return host.writeText(request.path, request.text);
  }
};
const server = createServer({ allowHalfOpen: true }, (connection) => {
  const chunks: Buffer[] = [];
  connection.on('data', (chunk: Buffer) => chunks.push(chunk));
  connection.on('end', async () => {
    connection.end(JSON.stringify(await answer(JSON.parse(Buffer.concat(chunks).toString()))));
  });
});
server.listen(path);
await once(server, 'listening');
process.stdout.write(`${path}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
server.close();
rmSync(folder, { recursive: true });
