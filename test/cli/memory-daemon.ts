/**
 * The program on a machine in memory, for tests of its end: `SLOW_TOOL` never ends, `SLOW_WHEN=writing` only when it is to write. Prints `slow`
 * when it was started. What runs at the end has 200 ms.
 */
import { runCommandLine } from '../../src/cli/command-line.ts';
import { processTerminal } from '../../src/cli/terminal.ts';
import { runDaemon } from '../../src/daemon.ts';
import { succeed } from '../../src/model/result.ts';
import { createLogger } from '../../src/observe/logger.ts';
import { StopSignals } from '../../src/process-end.ts';
import { startingHost } from '../config/starting-host.ts';

const signals = new StopSignals(1000);
const terminal = processTerminal();
const memory = startingHost();
const { SLOW_TOOL, SLOW_WHEN } = process.env;
const host = {
  ...memory,
  runTool: async (call: Parameters<typeof memory.runTool>[0]) => {
    if (call.tool === SLOW_TOOL && (SLOW_WHEN !== 'writing' || call.input !== undefined)) {
      process.stdout.write('slow\n');
      // Something has to be open, as a child would be.
      await new Promise((resolve) => setTimeout(resolve, 1e9));
    }
    return memory.runTool(call);
  },
};
/** Nobody else programs it. */
const lock = async () => succeed({ release: async () => {} });
const nothing = async () => 0 as const;
const commands = {
  run: (args: Parameters<typeof runDaemon>[0], version: string) =>
    runDaemon(args, version, terminal, signals.received(), { host, openLog: createLogger, lock, patienceMs: 200 }),
  writeConfig: nothing,
  render: nothing,
  diff: nothing,
  explain: nothing,
  replay: nothing,
  cleanup: nothing,
  doctor: nothing,
  status: nothing,
};
await signals.endWith(runCommandLine(process.argv.slice(2), '1.2.3', commands, terminal));
