import { expect } from 'chai';
import fc from 'fast-check';
import { decodeThing, Recorder, type Thing } from '../../test/apiserver/recorder.ts';
import { ObjectCache } from './list-watch-cache.ts';
import type { RawObject } from './watch-events.ts';

describe('kube/list-watch-cache', () => {
  const raw = (name: string, uid: string, resourceVersion: string, note = ''): RawObject => {
    return { key: `/${name}`, uid, resourceVersion, json: { metadata: { name, annotations: { note } } } };
  };
  const setUp = () => {
    const recorder = new Recorder();
    const cache = new ObjectCache<Thing>(decodeThing, recorder);
    const put = (object: RawObject) => cache.put(object.key, cache.read(object));
    const replace = (objects: readonly RawObject[]) =>
      cache.replace(new Map(objects.map((object) => [object.key, cache.read(object)])));
    return { recorder, cache, put, replace };
  };

  it('tells of additions, changes and deletions', () => {
    const { recorder, cache, put } = setUp();
    put(raw('a', '1', '1', 'x'));
    put(raw('a', '1', '2', 'y'));
    cache.remove('/a');
    cache.remove('/a');
    expect(recorder.lines).to.deep.equal(['+ a', '~ a: x → y', '- a']);
  });

  it('tells nothing of a version that is known', () => {
    const { recorder, put, replace } = setUp();
    put(raw('a', '1', '1'));
    put(raw('a', '1', '1'));
    replace([raw('a', '1', '1')]);
    expect(recorder.lines).to.deep.equal(['+ a']);
  });

  it('tells a handler that asks for it of versions that come again', () => {
    let repeated = 0;
    const told = { changed: () => {}, problem: () => {}, repeated: () => (repeated += 1) };
    const cache = new ObjectCache<Thing>(decodeThing, told);
    for (const version of ['1', '1', '2', '2', '2']) cache.put('/a', cache.read(raw('a', '1', version)));
    expect(repeated).to.equal(3);
  });

  it('lets a tap hear of every object before the handler does, whether it can be decoded or not', () => {
    const heard: string[] = [];
    const told = {
      changed: (previous?: Thing, current?: Thing) => heard.push(`${previous?.name} → ${current?.name}`),
      problem: () => heard.push('problem'),
    };
    const cache = new ObjectCache<Thing>(decodeThing, told, (type, object) =>
      heard.push(`${type} ${JSON.stringify(object)}`),
    );
    const text = (note: string) => JSON.stringify({ metadata: { name: 'a', annotations: { note } } });
    const put = (object: RawObject) => cache.put(object.key, cache.read(object));
    put(raw('a', '1', '1', 'x'));
    put(raw('a', '1', '2', 'bad'));
    put(raw('a', '1', '2', 'bad'));
    put(raw('a', '2', '3', 'y'));
    cache.replace(new Map());
    cache.remove('/a');
    expect(heard).to.deep.equal([
      `ADDED ${text('x')}`,
      'undefined → a',
      `MODIFIED ${text('bad')}`,
      'problem',
      `MODIFIED ${text('bad')}`,
      'DELETED {"metadata":{"name":"a","uid":"1","resourceVersion":"2"}}',
      'a → undefined',
      `ADDED ${text('y')}`,
      'undefined → a',
      'DELETED {"metadata":{"name":"a","uid":"2","resourceVersion":"3"}}',
      'a → undefined',
    ]);
  });

  it('takes another uid under the same name for a deletion and an addition', () => {
    const { recorder, put } = setUp();
    put(raw('a', '1', '1', 'x'));
    put(raw('a', '2', '5', 'y'));
    expect(recorder.lines).to.deep.equal(['+ a', '- a', '+ a']);
  });

  it('keeps the value of an object that cannot be decoded any more, until it is readable or gone', () => {
    const { recorder, cache, put } = setUp();
    put(raw('a', '1', '1', 'x'));
    put(raw('a', '1', '2', 'bad'));
    put(raw('a', '1', '3', 'y'));
    put(raw('a', '1', '4', 'bad'));
    cache.remove('/a');
    const problem = 'problem Thing a: it is bad';
    expect(recorder.lines).to.deep.equal(['+ a', problem, '~ a: x → y', problem, '- a']);
  });

  it('tells of an object from its first readable state on, and only of the deletion when its successor is unreadable', () => {
    const { recorder, cache, put } = setUp();
    put(raw('a', '1', '1', 'bad'));
    cache.remove('/a');
    put(raw('b', '1', '1', 'bad'));
    put(raw('b', '1', '2', 'x'));
    put(raw('b', '2', '3', 'bad'));
    const problem = (name: string) => `problem Thing ${name}: it is bad`;
    expect(recorder.lines).to.deep.equal([problem('a'), problem('b'), '+ b', '- b', problem('b')]);
  });

  it('removes what a new list lacks before it adds what is new', () => {
    const { recorder, replace } = setUp();
    replace([raw('a', '1', '1'), raw('b', '2', '2', 'x')]);
    recorder.take();
    replace([raw('b', '2', '4', 'y'), raw('c', '3', '3')]);
    expect(recorder.lines).to.deep.equal(['- a', '~ b: x → y', '+ c']);
  });

  it('tells changes that add up to the last list, whatever came before', () => {
    const list = fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('a', 'b', 'c'),
        uid: fc.constantFrom('1', '2'),
        note: fc.constantFrom('x', 'y'),
      }),
      { selector: ({ name }) => name },
    );
    fc.assert(
      fc.property(fc.array(list, { minLength: 1 }), (lists) => {
        const { recorder, replace } = setUp();
        lists.forEach(
          (objects, at) => void replace(objects.map(({ name, uid, note }) => raw(name, uid, String(at), note))),
        );
        const expected = new Map((lists.at(-1) ?? []).map(({ name, note }) => [name, { name, note }]));
        expect(new Map([...recorder.things].sort())).to.deep.equal(new Map([...expected].sort()));
      }),
    );
  });
});
