#!/usr/bin/env node
import packageJson from '../package.json' with { type: 'json' };
import { runCommandLine } from './cli/command-line.ts';
import { render } from './cli/render.ts';
import { replay } from './cli/replay.ts';
import { processTerminal } from './cli/terminal.ts';
import { writeConfig } from './cli/write-config.ts';

const terminal = processTerminal();

/** Resolves with the name of the first signal that asks the process to end; a second one ends it at once. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolve(signal);
      });
    }
  });
}

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  packageJson.version,
  {
    run: async (args) => (await import('./daemon.ts')).runDaemon(args, packageJson.version, terminal, stopSignal()),
    writeConfig: (flags, path) => writeConfig(flags, path, terminal),
    render: (args) => render(args, terminal),
    replay: (args) => replay(args, terminal),
    cleanup: async (args) => (await import('./clean-node.ts')).cleanNode(args, packageJson.version, terminal),
  },
  terminal,
);
