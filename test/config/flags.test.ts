import { expect } from 'chai';
import { HEAD } from '../../src/config/config-fixture.ts';
import type { EffectiveDocuments } from '../../src/config/effective-documents.ts';
import { FLAGS } from '../../src/config/flags.ts';
import { type ConfigSources, loadEffective } from '../../src/config/load.ts';
import { getField } from '../../src/config/raw-config.ts';
import { FIELD_FLAGS, FLAGS_WITHOUT_FIELD } from './flag-rows.ts';

describe('test/config/flags', () => {
  it('has every flag in the tables, each once', () => {
    const rows = [...FIELD_FLAGS, ...FLAGS_WITHOUT_FIELD].map(({ flag }) => flag);
    expect(rows.sort()).to.deep.equal(FLAGS.map(({ name }) => name).sort());
  });

  for (const { flag, text, effective, byDefault, invalid } of FIELD_FLAGS) {
    const { field = '', kind } = FLAGS.find(({ name }) => name === flag) ?? {};
    const beats = kind !== 'setting';

    describe(`--${flag}`, () => {
      it(`sets ${field}, ${JSON.stringify(byDefault)} by default, to ${JSON.stringify(effective)}`, () => {
        expect(effectiveValue({ flags: {} }, field)).to.deep.equal(byDefault);
        expect(effectiveValue({ flags: { [flag]: text } }, field)).to.deep.equal(effective);
      });

      it(`${beats ? 'beats a file' : 'does not count beside a file, and is named'}`, () => {
        const file = { name: 'proxy.yaml', text: HEAD };
        const inFile = effectiveValue({ file, flags: {} }, field);
        const sources = { file, flags: { [flag]: text } };
        expect(effectiveValue(sources, field)).to.deep.equal(beats ? effective : inFile);
        const loaded = loadEffective(sources);
        expect(loaded.ok && loaded.value.config.ignoredFlags).to.deep.equal(beats ? [] : [flag]);
      });

      if (invalid === undefined) return;
      it(`refuses ${JSON.stringify(invalid)}, and says that it stood there`, () => {
        const loaded = loadEffective({ flags: { [flag]: invalid } });
        expect(loaded.ok).to.equal(false);
        expect(loaded.ok ? [] : loaded.error.map(({ where }) => where)).to.include(`--${flag}`);
      });
    });
  }

  for (const { flag, text, effect } of FLAGS_WITHOUT_FIELD) {
    it(`--${flag} ${effect === 'none' ? 'is taken and changes nothing' : `changes ${effect}`}`, () => {
      const [given, plain] = [{ [flag]: text }, {}].map((flags) => {
        const loaded = loadEffective({ flags });
        if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
        return loaded.value;
      });
      if (effect === 'none') return expect(given?.documents).to.deep.equal(plain?.documents);
      return expect(given?.config[effect]).to.not.deep.equal(plain?.config[effect]);
    });
  }
});

function effectiveValue(sources: ConfigSources, field: string): unknown {
  const loaded = loadEffective(sources);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  const { kubeProxy, own }: EffectiveDocuments = loaded.value.documents;
  return getField(field === 'behaviour' ? own : kubeProxy, field.split('.'));
}
