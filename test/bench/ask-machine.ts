import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FileError, ToolCall, ToolError, ToolOutput } from '../../src/apply/tool.ts';
import type { Result } from '../../src/model/result.ts';

/** What `cold-start-machine.ts` is asked for. */
export type Request =
  | { readonly kind: 'run'; readonly call: ToolCall }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly text: string };

interface Answers {
  readonly run: Result<ToolOutput, ToolError>;
  readonly read: Result<string, FileError>;
  readonly write: Result<void, FileError>;
}

/** Connects to its socket for one request. */
export async function askMachine<K extends Request['kind']>(
  socket: string,
  request: Extract<Request, { readonly kind: K }>,
): Promise<Answers[K]> {
  const connection = connect(socket);
  connection.end(JSON.stringify(request));
  return JSON.parse(await text(connection));
}
