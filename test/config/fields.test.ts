import { expect } from 'chai';
import { HEAD, OWN } from '../../src/config/config-fixture.ts';
import type { EffectiveDocuments } from '../../src/config/effective-documents.ts';
import { fieldNames } from '../../src/config/field-names.ts';
import { loadEffective } from '../../src/config/load.ts';
import { getField, type RawConfig, withField } from '../../src/config/raw-config.ts';
import { ipvsProxierConfiguration, kubeProxyConfiguration } from '../../src/config/schema.ts';
import { type FieldRow, KUBE_PROXY_ROWS, OWN_ROWS } from './field-rows.ts';

describe('test/config/fields', () => {
  const documents = [
    { name: 'KubeProxyConfiguration', of: 'kubeProxy', schema: kubeProxyConfiguration, rows: KUBE_PROXY_ROWS },
    { name: 'IPVSProxierConfiguration', of: 'own', schema: ipvsProxierConfiguration, rows: OWN_ROWS },
  ] as const;
  for (const { name, of, schema, rows } of documents) {
    describe(name, () => {
      it('has every field in the table, each once', () =>
        expect(rows.map(({ field }) => field).sort()).to.deep.equal([...fieldNames(schema)].sort()));

      for (const row of rows) {
        const { field, byDefault, valid, invalid } = row;
        const effective = valid.length > 1 ? valid[1] : valid[0];

        it(`${field}: ${show(byDefault)} by default, ${show(invalid)} refused, ${show(effective)} taken`, () => {
          expect(effectiveValue(fileOf(of, {}), of, field), 'default').to.deep.equal(byDefault);
          expect(effectiveValue(fileOf(of, fieldsOf(row, valid[0])), of, field), 'valid').to.deep.equal(effective);
          const refused = load(fileOf(of, fieldsOf(row, invalid)));
          expect(refused.ok, 'refused').to.equal(false);
          if (field === 'apiVersion' || field === 'kind') return;
          const named = refused.ok ? [] : refused.error.map((error) => error.field);
          expect(
            named.some((other) => isAbout(other, field)),
            `named: ${named.join()}`,
          ).to.equal(true);
        });
      }
    });
  }
});

function load(text: string) {
  return loadEffective({ file: { name: 'proxy.yaml', text }, flags: {} });
}

function effectiveValue(text: string, document: keyof EffectiveDocuments, field: string): unknown {
  const loaded = load(text);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return getField(loaded.value.documents[document], field.split('.'));
}

function fieldsOf({ field, beside = {} }: FieldRow, value: unknown): RawConfig {
  return withField(beside, field.split('.'), value);
}

/** Fields of one document in a file; the other has none. */
function fileOf(document: keyof EffectiveDocuments, fields: RawConfig): string {
  const [head, start] = [HEAD, OWN.replace('---\n', '')].map((lines) =>
    Object.fromEntries(
      lines
        .trim()
        .split('\n')
        .map((line) => line.split(': ')),
    ),
  );
  const [first, second] = document === 'kubeProxy' ? [{ ...head, ...fields }, start] : [head, { ...start, ...fields }];
  return `${JSON.stringify(first)}\n---\n${JSON.stringify(second)}\n`;
}

/** A rule between two fields may name the other one. */
function isAbout(named: string, field: string): boolean {
  const section = field.includes('.') ? field.slice(0, field.lastIndexOf('.')) : field;
  return named.startsWith(section);
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
