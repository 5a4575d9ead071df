import { expect } from 'chai';
import { ServerChoice } from './client-servers.ts';

describe('kube/client-servers', () => {
  it('stays with an address until that one fails, then takes the next, in a circle', () => {
    const choice = new ServerChoice(['b', 'c']);
    const used = ['a', 'a', 'b', 'b', 'c'].map((failing) => {
      const server = choice.current('a');
      choice.failed(failing);
      return server;
    });
    expect([...used, choice.current('a')]).to.deep.equal(['a', 'b', 'b', 'c', 'c', 'a']);
  });

  it('has no other choice where there is one address, named twice or not', () => {
    for (const others of [[], ['a']]) {
      const choice = new ServerChoice(others);
      expect(choice.current('a')).to.equal('a');
      choice.failed('a');
      expect(choice.current('a')).to.equal('a');
    }
  });

  it('begins anew when the credentials name another address', () => {
    const choice = new ServerChoice(['b']);
    choice.current('a');
    choice.failed('a');
    expect([choice.current('a'), choice.current('z')]).to.deep.equal(['b', 'z']);
  });
});
