import { FLAGS } from '../config/flags.ts';
import { suggest } from '../config/suggest.ts';
import type { GivenFlags } from './arguments.ts';
import { texts, UsageError } from './usage-error.ts';

/**
 * The long way of what may be written in several: older flags have underscores for dashes, a value may stick to its letter (`-ojson`), and
 * a boolean flag without a value, which Go never takes from the next word, is true.
 */
export function spellOut(word: string): readonly string[] {
  const [, letter, value] = /^-([ofv])=?(.+)$/.exec(word) ?? [];
  if (letter !== undefined && value !== undefined) return [`-${letter}`, value];
  const dashed = word.replace(/^--[\w-]+/, (name) => name.replaceAll('_', '-'));
  return [BOOLEANS.has(dashed.slice(2)) && dashed.startsWith('--') ? `${dashed}=true` : dashed];
}

const BOOLEANS: ReadonlySet<string> = new Set([
  ...FLAGS.filter(({ type }) => type === 'bool' || type === 'version').map(({ name }) => name),
  'dry-run',
  'kernel',
]);

/** Of a flag that has one value the last counts, as in pflag; what lists and maps are given several times is joined later. */
export function withoutRepetitions(given: GivenFlags): GivenFlags {
  const single = FLAGS.filter(({ name, type }) => Array.isArray(given[name]) && type !== 'list' && type !== 'map');
  return { ...given, ...Object.fromEntries(single.map(({ name }) => [name, texts(given[name]).at(-1)])) };
}

/** As kube-proxy, which lets empty words pass: some DaemonSets give one. */
export function refuseWords(given: GivenFlags): void {
  const word = looseWords(given).find((each) => each !== '' && each !== '""');
  if (word !== undefined) throw new UsageError(`unknown argument ${word}${meantBy(word)}`);
}

/** A command that is misspelt, or an option without its dashes. */
function meantBy(word: string): string {
  const near = OPTION_WORDS.has(word) ? `--${word}` : suggest(word, COMMANDS);
  return near === undefined ? '' : `, did you mean ${near}?`;
}

const OPTION_WORDS: ReadonlySet<string> = new Set([...FLAGS.map(({ name }) => name), 'dry-run', 'kernel']);

/** Words that no option takes, those behind `--` among them; without the name of the command. */
function looseWords(given: GivenFlags): readonly string[] {
  const [first, ...others] = texts(given._);
  const words = first === undefined || COMMANDS.includes(first) ? others : [first, ...others];
  return [...words, ...texts(given['--'])];
}

/** `help`, `help diff`: what people type who know other tools. */
export function askedForHelp(words: readonly string[]): readonly string[] {
  const [first, ...others] = words;
  return first === 'help' ? [...others, '--help'] : words;
}

const COMMANDS = ['run', 'render', 'diff', 'explain', 'replay', 'cleanup', 'doctor', 'status'];

/** What a command is about may stand behind `--`. */
export function withPositional(given: GivenFlags, name: 'trace' | 'target'): GivenFlags {
  const [word, ...others] = texts(given['--']);
  return given[name] === undefined && word !== undefined ? { ...given, [name]: word, '--': others } : given;
}
