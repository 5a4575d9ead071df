import { expect } from 'chai';
import fc from 'fast-check';
import { fieldNames } from './field-names.ts';
import { loadConfig } from './load.ts';
import { parseFields } from './parse-fields.ts';
import { withField } from './raw-config.ts';
import { KUBE_PROXY_DOCUMENT, kubeProxyConfiguration } from './schema.ts';

describe('config/parse-fields', () => {
  it('gives the default in place of what is wrong, and keeps what is right', () => {
    const { value, problems } = parseFields(kubeProxyConfiguration, {
      ipvs: { scheduler: 5, strictARP: true, banana: 1 },
      nodePortAddresses: ['10.0.0.0/8', 'x'],
      conntrack: 'none',
    });
    expect(value.ipvs).to.deep.include({ scheduler: '', strictARP: true });
    expect(value.nodePortAddresses).to.deep.equal([]);
    expect(value.conntrack.min).to.equal(131_072);
    expect(problems.map(({ field }) => field)).to.have.members([
      'ipvs.scheduler',
      'ipvs.banana',
      'nodePortAddresses[1]',
      'conntrack',
    ]);
  });

  it('finds the same problems in a field whatever else is wrong', () => {
    const fields = fc.constantFrom(...fieldNames(kubeProxyConfiguration), 'ipvs', 'logging', 'banana', 'ipvs.banana');
    const entries = fc.uniqueArray(fc.tuple(fields, fc.jsonValue({ maxDepth: 2 })), { selector: ([field]) => field });
    fc.assert(
      fc.property(entries, (given) => {
        const inSections = given.filter(([field]) => !given.some(([outer]) => field.startsWith(`${outer}.`)));
        const raws = inSections.map(([field, value]) => withField({}, field.split('.'), value));
        const together = inSections.reduce((raw, [field, value]) => withField(raw, field.split('.'), value), {});
        const alone = raws.flatMap((raw) => parseFields(kubeProxyConfiguration, raw).problems);
        expect(parseFields(kubeProxyConfiguration, together).problems).to.have.deep.members(alone);
      }),
      { numRuns: 500 },
    );
  });

  it('never fails otherwise than by errors, for any value in any field', () =>
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(kubeProxyConfiguration.unwrap().shape), 'x'), fc.jsonValue()),
        (raw) => {
          const text = JSON.stringify({ ...raw, ...KUBE_PROXY_DOCUMENT });
          expect(loadConfig({ file: { name: 'f', text }, flags: {} }).ok).to.be.a('boolean');
        },
      ),
      { numRuns: 500 },
    ));
});
