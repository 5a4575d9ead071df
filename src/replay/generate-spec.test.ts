import { expect } from 'chai';
import { DEFAULT_SPEC, type GenerateSpec, parseGenerateSpec } from './generate-spec.ts';

const NONE = { flap: 0, replace: 0, scale: 0, minor: 0, noise: 0 };

describe('replay/generate-spec', () => {
  const good: readonly (readonly [string, Partial<GenerateSpec>])[] = [
    ['', {}],
    ['slices=500,endpoints=10,changesPerSecond=200,seconds=60,mix=flap:70,replace:15,scale:10,noise:5,seed=1', {}],
    ['mix=noise:100', { mix: { ...NONE, noise: 100 } }],
    ['mix=flap:70,minor:30', { mix: { ...NONE, flap: 70, minor: 30 } }],
    ['seed=7,mix=flap:1,scale:0.5,slices=3', { seed: 7, slices: 3, mix: { ...NONE, flap: 1, scale: 0.5 } }],
    [' seconds=0.5 , changesPerSecond=12.5', { seconds: 0.5, changesPerSecond: 12.5 }],
  ];
  for (const [words, wanted] of good) {
    it(`reads ${JSON.stringify(words)}`, () => {
      expect(parseGenerateSpec(words)).to.deep.equal({ ok: true, value: { ...DEFAULT_SPEC, ...wanted } });
    });
  }

  const bad: readonly (readonly [string, string])[] = [
    ['slice=5', '"slice" is not known, did you mean slices?'],
    ['colour=5', '"colour" is not known'],
    ['500', '"500" is not of the form key=value'],
    ['slices=0', 'slices is "0", a whole number from 1 to 60000 is needed'],
    ['slices=1.5', 'slices is "1.5", a whole number'],
    ['seconds=-1', 'seconds is "-1", a number from 0'],
    ['seed=x', 'seed is "x"'],
    ['mix=flip:5', 'mix: "flip" is none of flap, replace, scale, minor, noise'],
    ['mix=flap', 'mix: the share of flap is "", not a number'],
    ['mix=flap:1:2', 'mix: the share of flap is "1:2", not a number'],
    ['mix=flap:0', 'the mix is empty'],
    ['seed=1,flap:5', '"flap:5" is not of the form key=value'],
  ];
  for (const [words, message] of bad) {
    it(`says what is wrong with ${words}`, () => {
      const parsed = parseGenerateSpec(words);
      expect(parsed.ok ? '' : parsed.error).to.include(message);
    });
  }
});
