import { FLAGS } from '../config/flags.ts';
import { suggest } from '../config/suggest.ts';
import { EXPLAIN_OPTIONS } from './comparison-options.ts';
import { RENDER_OPTIONS, REPLAY_OPTIONS, STATUS_OPTIONS } from './options.ts';

/** Fields of the file that people take for flags. */
const FIELDS_AS_FLAGS: Readonly<Record<string, string>> = { mode: 'proxy-mode' };

export function explainUsage(message: string): string {
  const [first = '', ...rest] = message.split('\n').map((line) => line.trim());
  if (/^Missing required argument: filename$/.test(first)) {
    return 'render needs the objects: -f FILE, a folder, or - for standard input';
  }
  const unknown = /^Unknown arguments?: (.+)$/.exec(first)?.[1]?.split(', ') ?? [];
  if (unknown.length === 0) return [first, ...rest].filter(Boolean).join(' ');
  const options = [RENDER_OPTIONS, REPLAY_OPTIONS, EXPLAIN_OPTIONS, STATUS_OPTIONS].flatMap((each) =>
    Object.keys(each),
  );
  const known = [...FLAGS.map(({ name }) => name), 'dry-run', 'record', 'of', 'output', ...options];
  const explained = unknown.map((name) => {
    if (known.includes(name)) return `--${name} is not an option of this command`;
    const near = FIELDS_AS_FLAGS[name] ?? suggest(name, known);
    if (name.length === 1) return `unknown option -${name}`;
    return near === undefined ? `unknown argument ${name}` : `unknown option --${name}, did you mean --${near}?`;
  });
  return explained.join('; ');
}
