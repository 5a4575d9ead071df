import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { z } from 'zod';
import { DEFAULTS } from './config-fixture.ts';
import { formatDuration } from './duration.ts';
import { DURATION_FIELDS } from './effective-documents.ts';
import { effectOf } from './field-effects.ts';
import { fieldNames } from './field-names.ts';
import { FLAGS } from './flags.ts';
import { loadConfig } from './load.ts';
import { getField, isMapping, type RawConfig } from './raw-config.ts';
import { ipvsProxierConfiguration, kubeProxyConfiguration } from './schema.ts';
import { ZERO_MEANS_DEFAULT } from './zero-values.ts';

const PAGE = readFileSync(new URL('../../docs/reference/configuration.md', import.meta.url), 'utf8');

describe('config/configuration-page', () => {
  const documents: [kind: string, schema: z.ZodType][] = [
    ['KubeProxyConfiguration', kubeProxyConfiguration],
    ['IPVSProxierConfiguration', ipvsProxierConfiguration],
  ];
  for (const [kind, schema] of documents) {
    const rows = rowsOf(kind);

    it(`lists the fields of ${kind}, each once, and no others`, () =>
      expect(rows.map(({ field }) => field).sort()).to.deep.equal([...fieldNames(schema)].sort()));

    it(`shows the defaults of ${kind}`, () => {
      const defaults = schema.parse({}) as RawConfig;
      for (const { field, type, byDefault } of rows) {
        const value = getField(defaults, field.split('.')) ?? derivedDefault(field);
        expect(byDefault, field).to.equal(value === undefined ? '–' : `\`${show(value, type)}\``);
      }
    });

    it(`tells what a change of each field of ${kind} comes to while the program runs`, () => {
      for (const { field, change } of rows) {
        const effect = effectOf(field);
        expect(change, field).to.equal(effect === 'none' ? '–' : effect);
      }
    });

    it(`names as durations of ${kind} those fields that are written as such`, () => {
      const durations = rows.filter(({ type }) => type.startsWith('duration')).map(({ field }) => field);
      const fields = fieldNames(schema);
      const written = DURATION_FIELDS.filter((field) => fields.includes(field));
      expect(durations.sort()).to.deep.equal([...written].sort());
    });

    it(`names the flags of ${kind}`, () => {
      const flags = FLAGS.filter((flag) => flag.name !== 'behaviour' || kind === 'IPVSProxierConfiguration');
      for (const { field, flag } of rows) {
        const name = flags.find((other) => other.field === field)?.name;
        expect(flag, field).to.equal(name === undefined ? '–' : `\`${name.length === 1 ? '-' : '--'}${name}\``);
      }
    });
  }

  it('marks the fields that a file cannot set to zero', () => {
    const marked = rowsOf('KubeProxyConfiguration').filter(({ mark }) => mark === '*');
    expect(marked.map(({ field }) => field).sort()).to.deep.equal([...ZERO_MEANS_DEFAULT].sort());
  });

  it('shows an example that is accepted without a notice', () => {
    const [, text = ''] = /```yaml\n([^`]*)```/.exec(PAGE) ?? [];
    const loaded = loadConfig({ file: { name: 'example', text }, flags: {} });
    expect(loaded.ok && loaded.value.notices).to.deep.equal([]);
  });
});

interface Row {
  readonly field: string;
  readonly mark: string;
  readonly type: string;
  readonly byDefault: string;
  readonly flag: string;
  readonly change: string;
}

/** The rows of the table under the heading. */
function rowsOf(heading: string): readonly Row[] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const lines = section.slice(0, section.indexOf('\n## ')).split('\n');
  return lines.flatMap((line) => {
    const [, field, mark = '', type = '', byDefault = '', flag = '', change = ''] =
      /^\| `([^`]+)`( \*)? \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$/.exec(line) ?? [];
    return field === undefined ? [] : [{ field, mark: mark.trim(), type, byDefault, flag, change }];
  });
}

/** Of fields whose default depends on others. */
function derivedDefault(field: string): unknown {
  const value = getField(DEFAULTS, [field]);
  return isMapping(value) ? `${value.address}:${value.port}` : value;
}

function show(value: unknown, type: string): string {
  if (type.startsWith('duration')) return formatDuration(Number(value));
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}
