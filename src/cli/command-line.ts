import yargs from 'yargs';
import type { Commands, GivenFlags } from './arguments.ts';
import {
  CLEANUP_EXAMPLES,
  DIFF_EXAMPLES,
  EXPLAIN_EXAMPLES,
  EXPLAIN_OPTIONS,
  EXPLAIN_TARGET,
  OBJECT_OPTIONS,
  RENDER_EXAMPLES,
  REPLAY_EXAMPLES,
  withExamples,
} from './comparison-options.ts';
import type { ExitCode } from './exit-code.ts';
import { explainUsage } from './explain-usage.ts';
import {
  CLEANUP_DRY_RUN,
  configOptions,
  DRY_RUN,
  OF,
  outputOption,
  RECORD,
  RECORD_OUTPUT,
  RENDER_OPTIONS,
  REPLAY_OPTIONS,
  runOptions,
  STATUS_OPTIONS,
  TRACE,
} from './options.ts';
import {
  cleanupArguments,
  configFlags,
  explainArguments,
  isOn,
  recordForm,
  refuseRunOnly,
  renderArguments,
  replayArguments,
  runArguments,
  statusArguments,
} from './read-arguments.ts';
import type { Terminal } from './terminal.ts';
import { texts, UsageError } from './usage-error.ts';
import { readVersionFlag } from './version-flag.ts';
import { askedForHelp, refuseWords, spellOut, withoutRepetitions, withPositional } from './words.ts';

/** Understands a command line and carries it out. What cannot be understood is one line on stderr and status 2. */
export async function runCommandLine(
  words: readonly string[],
  version: string,
  commands: Commands,
  terminal: Terminal,
): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const carryOut =
    (command: (given: GivenFlags, version: string) => Promise<ExitCode>) => async (parsed: GivenFlags) => {
      const given = withoutRepetitions(parsed);
      refuseWords(given);
      const wish = readVersionFlag(texts(given.version).at(-1), version);
      if (!wish.ok) throw new UsageError(wish.error);
      if (wish.value.kind === 'go-on') exitCode = await command(given, wish.value.version);
      else await terminal.output(wish.value.text);
    };
  const parser = yargs(askedForHelp(words).flatMap(spellOut))
    .scriptName('ipvs-proxier')
    .usage('$0 [command] [options]\n\nA drop-in replacement for kube-proxy in ipvs mode.')
    .parserConfiguration({
      'camel-case-expansion': false,
      'boolean-negation': false,
      'parse-numbers': false,
      'populate--': true,
    })
    .command(
      ['run', '$0'],
      'the node daemon',
      (command) => runOptions(outputOption(command)).option('dry-run', DRY_RUN).option('record', RECORD),
      carryOut((given, reported) => {
        if (isOn(given, 'cleanup')) return commands.cleanup(cleanupArguments(given), reported);
        const args = runArguments(given);
        const path = texts(given['write-config-to']).at(-1) ?? '';
        return path === '' ? commands.run(args, reported) : commands.writeConfig(args.flags, path);
      }),
    )
    .command(
      'render',
      'print what would be programmed for objects in files',
      (command) => withExamples(configOptions(outputOption(command)).options(RENDER_OPTIONS), RENDER_EXAMPLES),
      carryOut((given) => commands.render(renderArguments(given))),
    )
    .command(
      'diff',
      "compare this node's kernel with what should be there; status 3 if anything would change",
      (command) => withExamples(configOptions(outputOption(command)).options(OBJECT_OPTIONS), DIFF_EXAMPLES),
      carryOut((given) => commands.diff(renderArguments(given))),
    )
    .command(
      'explain [target]',
      'tell why a Service, or an address, is served as it is',
      (command) =>
        withExamples(
          configOptions(command).positional('target', EXPLAIN_TARGET).options(OBJECT_OPTIONS).options(EXPLAIN_OPTIONS),
          EXPLAIN_EXAMPLES,
        ),
      (given: GivenFlags) =>
        carryOut((taken) => commands.explain(explainArguments(taken)))(withPositional(given, 'target')),
    )
    .command(
      'replay [trace]',
      'run a trace of cluster events through the queue on a simulated clock',
      (command) => withExamples(command.positional('trace', TRACE).options(REPLAY_OPTIONS), REPLAY_EXAMPLES),
      (given: GivenFlags) =>
        carryOut((taken) => commands.replay(replayArguments(taken)))(withPositional(given, 'trace')),
    )
    .command(
      'cleanup',
      'remove what this program, or kube-proxy, made on this node',
      (command) =>
        withExamples(configOptions(command).option('of', OF).option('dry-run', CLEANUP_DRY_RUN), CLEANUP_EXAMPLES),
      carryOut((given, reported) => commands.cleanup(cleanupArguments(given), reported)),
    )
    .command(
      'doctor',
      'check this node, and change nothing',
      (command) =>
        configOptions(command)
          .option('output', RECORD_OUTPUT)
          .example('$0 doctor --config /var/lib/kube-proxy/config.conf', 'as the daemon is configured')
          .example('$0 doctor -o json | jq -r ".findings[].id"', 'names of what was found'),
      carryOut((given) => {
        refuseRunOnly(given);
        return commands.doctor({ flags: configFlags(given), form: recordForm(given) });
      }),
    )
    .command(
      'status',
      'ask the daemon of this node how it is',
      (command) =>
        command
          .options(STATUS_OPTIONS)
          .example('$0 status', 'how the daemon of this node is')
          .example('$0 status --service shop/cart', 'with what the kernel has of that Service')
          .example('$0 status -o json', 'with every Service'),
      carryOut((given) => commands.status(statusArguments(given))),
    )
    .strictOptions()
    .version(false)
    .help()
    .alias('help', 'h')
    .exitProcess(false)
    .wrap(Math.min(120, process.stdout.columns ?? 100))
    .fail((message, error) => {
      throw error ?? new UsageError(message);
    });
  try {
    await parser.parseAsync();
  } catch (error) {
    if (!(error instanceof UsageError) && (error as Error).name !== 'YError') throw error;
    terminal.error(`ipvs-proxier: ${explainUsage((error as Error).message)}; see ipvs-proxier --help`);
    return 2;
  }
  return exitCode;
}
