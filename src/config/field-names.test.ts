import { expect } from 'chai';
import { errorsOf, OWN } from './config-fixture.ts';

describe('config/field-names', () => {
  const unknown: [text: string, field: string, hint: string][] = [
    ['ipvs: {sheduler: rr}', 'ipvs.sheduler', 'got "sheduler"; did you mean "scheduler"?'],
    ['nodePortAddress: []', 'nodePortAddress', 'got "nodePortAddress"; did you mean "nodePortAddresses"?'],
    ['ipvs:\nstrictARP: true', 'strictARP', 'got "strictARP"; did you mean "ipvs.strictARP"?'],
    ['strictArp: true', 'strictArp', 'got "strictArp"; did you mean "ipvs.strictARP"?'],
    [
      'ipvs: {masqueradeAll: true}',
      'ipvs.masqueradeAll',
      'got "masqueradeAll"; did you mean "iptables.masqueradeAll"?',
    ],
    [
      'detectLocal: {banana: 1}',
      'detectLocal.banana',
      'got "banana"; known here: bridgeInterface, interfaceNamePrefix',
    ],
    [
      'logging: {vmodule: [{banana: 1}]}',
      'logging.vmodule[0].banana',
      'got "banana"; known here: filePattern, verbosity',
    ],
    [
      '__proto__: {a: 1}\nmode: ipvs',
      '__proto__',
      'got "__proto__"; known here: apiVersion, kind, featureGates, clientConnection',
    ],
    [`${OWN}behavior: documented`, 'behavior', 'got "behavior"; did you mean "behaviour"?'],
    [`${OWN}queu: {batchSize: 5}`, 'queu', 'got "queu"; did you mean "queue"?'],
    [`${OWN}queue: {batchsize: 5}`, 'queue.batchsize', 'got "batchsize"; did you mean "batchSize"?'],
    [`${OWN}batchSize: 5`, 'batchSize', 'got "batchSize"; did you mean "queue.batchSize"?'],
    [`${OWN}queue: {delays: {crtical: 0}}`, 'queue.delays.crtical', 'got "crtical"; did you mean "critical"?'],
    [
      `${OWN}queue: {retries: {update: {fastTries: 5}}}`,
      'queue.retries.update.fastTries',
      'got "fastTries"; did you mean "queue.retries.readiness.fastTries"?',
    ],
    [
      `${OWN}queue: {retries: {minor: {banana: 1}}}`,
      'queue.retries.minor.banana',
      'got "banana"; known here: fast, fastTries, slow',
    ],
  ];
  for (const [text, field, hint] of unknown) {
    it(`refuses the field ${field} with a hint`, () => {
      const errors = errorsOf(text);
      expect(errors.map((error) => error.field)).to.deep.equal([field]);
      expect(errors[0]?.message.slice(0, hint.length + 15)).to.equal(`unknown field; ${hint}`);
    });
  }
});
