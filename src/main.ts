#!/usr/bin/env node
import packageJson from '../package.json' with { type: 'json' };
import type { Commands } from './cli/arguments.ts';
import { StopSignals } from './process-end.ts';

const signals = new StopSignals();
await signals.endWith(carryOut());

/** Everything else is loaded once signals are listened to. */
async function carryOut() {
  const { processTerminal } = await import('./cli/terminal.ts');
  const { runCommandLine } = await import('./cli/command-line.ts');
  const terminal = processTerminal();
  const commands: Commands = {
    run: async (args, version) => {
      const stop = signals.received();
      return (await import('./daemon.ts')).runDaemon(args, version, terminal, stop);
    },
    writeConfig: async (flags, path) => (await import('./cli/write-config.ts')).writeConfig(flags, path, terminal),
    render: async (args) => (await import('./cli/render.ts')).render(args, terminal),
    diff: async (args) => (await import('./diff-node.ts')).diffNode(args, packageJson.version, terminal),
    explain: async (args) => (await import('./explain-service.ts')).explainService(args, packageJson.version, terminal),
    replay: async (args) => (await import('./cli/replay.ts')).replay(args, terminal),
    cleanup: async (args, version) => (await import('./clean-node.ts')).cleanNode(args, version, terminal),
    doctor: async (args) => (await import('./check-node.ts')).checkNode(args, terminal),
    status: async (args) => (await import('./cli/status.ts')).printStatus(args, terminal),
  };
  return runCommandLine(process.argv.slice(2), packageJson.version, commands, terminal);
}
