import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { page, readPage } from './pages.ts';
import { textsOf } from './source-texts.ts';

const SOURCE = join(import.meta.dirname, '../../src');

describe('test/reports/errors-page', () => {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.test|-fixture)\.ts$/.test(path))
    .map((path) => ({ path, code: readFileSync(join(SOURCE, path), 'utf8') }));
  const errorsPage = page('reference/errors.md');

  it('names everything that the program can say of a fault', () => {
    const lines = page('reference/commands.md').split('### Lines of the log')[1]?.split('### Events')[0] ?? '';
    const documented = [...spans(errorsPage), ...spans(lines)].filter(isSentence);
    const missing = sources
      .filter(({ path }) => !QUIET.some((part) => path.startsWith(part)))
      .flatMap(({ path, code }) => textsOf(code).map((found) => ({ path, ...found })))
      .filter(({ text, before }) => isSentence(text) && !isOther(text, before))
      .filter(({ text }) => !documented.some((span) => isSame(span, text)));
    expect(missing.map(({ path, text }) => `${path}: ${text}`)).to.deep.equal([]);
  });

  it('has no message that nobody says any more', () => {
    const said = [...sources.flatMap(({ code }) => textsOf(code).map(({ text }) => text)), ...SAID_BY_OTHERS];
    const sentences = said.filter(isSentence);
    const stale = messagesOf(readPage('reference/errors.md'));
    expect(stale.filter(isSentence).filter((span) => !sentences.some((text) => isSame(span, text)))).to.deep.equal([]);
  });

  it('names every kind of error, and no other', () => {
    const kinds = sources.flatMap(({ code }) =>
      [...code.matchAll(/\b(?:type|interface) \w*Error\b.*?\n\n/gs)].flatMap(([declared]) =>
        [...declared.matchAll(/readonly kind: '([a-z-]+)'/g)].map(([, kind]) => kind),
      ),
    );
    const words = spans(errorsPage).filter((span) => /^[a-z]+(-[a-z]+)*$/.test(span));
    const columns = [...errorsPage.matchAll(/\| `([a-z]+(?:-[a-z]+)*)`(?:, `([a-z-]+)`)? \|/g)];
    expect([...new Set(kinds)].filter((kind) => !words.includes(kind ?? ''))).to.deep.equal([]);
    const named = columns.flatMap(([, ...found]) => found).filter((word) => word !== undefined);
    expect([...new Set(named)].filter((word) => !kinds.includes(word) && word !== 'err')).to.deep.equal([]);
  });
});

/** Where nothing is said of faults: what tools read, help, results, and the answers of servers. */
const QUIET = [
  ...[
    'kernel/',
    'observe/',
    'doctor/',
    'cleanup/leftovers.ts',
    ...['client', 'endpoint-words', 'explain-endpoints', 'explain-service', 'kept-servers'].map(
      (name) => `explain/${name}.ts`,
    ),
    ...['address', 'ipvs', 'rule', 'set'].map((kind) => `explain/${kind}-changes.ts`),
    'cli/diff-output.ts',
    'cli/explanation-output.ts',
    'cli/scheduler-source.ts',
    'cli/comparison-options.ts',
    'cli/describe-state.ts',
    'cli/output.ts',
    'cli/render-status.ts',
    'replay/generated-cluster.ts',
  ],
  ...['replay/report.ts', 'config/fields.ts', 'config/flags.ts', 'config/logging-flags.ts', 'config/setting-flags.ts'],
];

/** What stands before texts of other kinds: help, comments of rules, Events, bugs, names of metrics, and what `must be …` ends with. */
const NO_FAULT = [
  /\b(description|describe|note|text) ?[:=]\s*$/,
  /\.(command|usage|example)\([^;]*$/,
  /\b(comment|jump)\([^;]*$/,
  /\blog\.(info|debug)\([^;]*$/,
  /\bthrow new (?!UsageError)\w*Error\(\s*$/,
  /\b(field|textLike|mustBe)(<\w+>)?\(\s*$/,
  /\ballowed = $/,
  /\.includes\($/,
  /_total',\s*$/,
];

/** Names a stage of a pass whose faults are told in other words. */
const NEVER_SAID = ['ending stale UDP flows'];

/** Messages of yargs, of tools, of the kernel and of the runtime. */
const SAID_BY_OTHERS = [
  'Not enough arguments following: …',
  'Invalid values: Argument: output, …',
  'Missing required argument: …',
  'URL: connect ECONNREFUSED …',
  'listen EADDRINUSE: address already in use …',
  'Set cannot be destroyed: it is in use by a kernel component',
  'Kernel error received: …',
  'Operation not permitted',
  'Scheduler or persistence engine not found',
  'Service already exists',
  'No such destination',
  "Can't initialize ipvs: Permission denied",
  '…-restore: line … failed',
  "Couldn't load match …",
  'Another app is currently holding the xtables lock',
];

function isOther(text: string, before: string): boolean {
  return text.startsWith('note: ') || NEVER_SAID.includes(text) || NO_FAULT.some((kind) => kind.test(before));
}

/** At least three words. */
function isSentence(text: string): boolean {
  return text.split(/\s+/).filter((word) => /[a-z]{2}/i.test(word)).length >= 3;
}

function spans(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
}

/** What stands in the columns for messages. */
function messagesOf(text: string): readonly string[] {
  let columns: readonly number[] = [];
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('|')) return [];
    const cells = line.split('|').slice(1, -1);
    const heads = cells.map((cell) => cell.trim());
    if (heads.some((head) => /^(Message|`err`)$/.test(head))) {
      columns = heads.flatMap((head, index) => (/^(Message|`err`|`DURING`)$/.test(head) ? [index] : []));
      return [];
    }
    return columns.flatMap((column) => spans(cells[column] ?? ''));
  });
}

/** Whether one says what the other says, where `…` stands for anything. */
function isSame(documented: string, said: string): boolean {
  return covers(documented, said) || covers(said, documented);
}

function covers(pattern: string, text: string): boolean {
  const parts = pattern.split('…').map((part) => part.trim());
  if (parts.join('').length < LEAST_LENGTH) return false;
  let at = 0;
  return parts.every((part) => {
    const found = text.indexOf(part, at);
    at = found + part.length;
    return found >= 0;
  });
}

const LEAST_LENGTH = 8;
