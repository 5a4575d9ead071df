/** Where a command reads and writes. Messages go to `error`, so that the output can be piped on. */
export interface Terminal {
  readonly output: (text: string) => Promise<void>;
  readonly error: (line: string) => void;
  /** All of standard input. */
  readonly input: () => Promise<string>;
}

/** The process's own streams. A reader that goes away ends the output without a fuss. */
export function processTerminal(): Terminal {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    output: (text) => new Promise((resolve) => process.stdout.write(text, () => resolve())),
    error: (line) => process.stderr.write(`${line}\n`),
    input: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}
