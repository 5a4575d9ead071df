/** Where a command reads and writes. Messages go to `error`, so that the output can be piped on. */
export interface Terminal {
  readonly output: (text: string) => Promise<void>;
  /** One line, whatever is in it. */
  readonly error: (line: string) => void;
  /** All of standard input. */
  readonly input: () => Promise<string>;
}

/** The process's own streams. A reader that goes away ends the output without a fuss; an output that cannot be written is a failure. */
export function processTerminal(): Terminal {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`error: the output cannot be written: ${error.code ?? error.message}\n`);
    process.exit(1);
  });
  return {
    output: (text) => new Promise((resolve) => process.stdout.write(text, () => resolve())),
    error: (line) => process.stderr.write(`${line.replace(/\s*\n\s*/g, ' ')}\n`),
    input: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}
