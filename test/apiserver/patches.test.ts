import { expect } from 'chai';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { applyMergeKeys, strategicMerge, strategicMergeKeys } from './strategic-merge.ts';

describe('test/apiserver/merge-patch', () => {
  it('merges objects, removes by null and replaces lists', () => {
    const patched = mergePatch({ a: { b: 1, c: 2 }, list: [1, 2] }, { a: { b: null, d: 3 }, list: [9] });
    expect(patched).to.deep.equal({ a: { c: 2, d: 3 }, list: [9] });
  });
});

describe('test/apiserver/json-patch', () => {
  const target = { list: ['a', 'b'], map: { 'x/y': 1 } };
  const cases = [
    {
      name: 'adds before an element',
      patch: [{ op: 'add', path: '/list/1', value: 'n' }],
      result: { list: ['a', 'n', 'b'], map: { 'x/y': 1 } },
    },
    {
      name: 'adds at the end',
      patch: [{ op: 'add', path: '/list/-', value: 'n' }],
      result: { list: ['a', 'b', 'n'], map: { 'x/y': 1 } },
    },
    {
      name: 'removes an escaped key',
      patch: [{ op: 'remove', path: '/map/x~1y' }],
      result: { list: ['a', 'b'], map: {} },
    },
    {
      name: 'replaces after a test that holds',
      patch: [
        { op: 'test', path: '/list/0', value: 'a' },
        { op: 'replace', path: '/list/0', value: 'c' },
      ],
      result: { list: ['c', 'b'], map: { 'x/y': 1 } },
    },
    {
      name: 'moves',
      patch: [{ op: 'move', from: '/list/0', path: '/map/z' }],
      result: { list: ['b'], map: { 'x/y': 1, z: 'a' } },
    },
    {
      name: 'copies',
      patch: [{ op: 'copy', from: '/list/0', path: '/map/z' }],
      result: { list: ['a', 'b'], map: { 'x/y': 1, z: 'a' } },
    },
  ];
  for (const { name, patch, result } of cases) {
    it(name, () => expect(jsonPatch(target, patch)).to.deep.equal({ ok: true, value: result }));
  }

  it('fails when a test does not hold or a path is missing', () => {
    expect(jsonPatch(target, [{ op: 'test', path: '/list/0', value: 'z' }]).ok).to.equal(false);
    expect(jsonPatch(target, [{ op: 'remove', path: '/nothing/here' }]).ok).to.equal(false);
    expect(jsonPatch(target, [{ op: 'replace', path: '/map/none', value: 1 }]).ok).to.equal(false);
  });
});

describe('test/apiserver/strategic-merge', () => {
  const service = {
    spec: {
      ports: [
        { port: 80, protocol: 'TCP', nodePort: 30001 },
        { port: 53, protocol: 'UDP' },
      ],
    },
    metadata: { finalizers: ['a'] },
  };
  const merge = (patch: unknown) => strategicMerge(service, patch, strategicMergeKeys('Service'));

  it('merges Service ports by number', () => {
    expect(merge({ spec: { ports: [{ port: 80, targetPort: 8080 }] } }))
      .to.have.nested.property('spec.ports')
      .deep.equal([
        { port: 80, protocol: 'TCP', nodePort: 30001, targetPort: 8080 },
        { port: 53, protocol: 'UDP' },
      ]);
  });

  it('deletes, orders and replaces elements by directives', () => {
    expect(merge({ spec: { ports: [{ port: 80, $patch: 'delete' }] } }))
      .to.have.nested.property('spec.ports')
      .deep.equal([{ port: 53, protocol: 'UDP' }]);
    const ordered = merge({
      spec: { '$setElementOrder/ports': [{ port: 53 }, { port: 80 }], ports: [{ port: 80, name: 'x' }] },
    });
    expect(ordered).to.have.nested.property('spec.ports[0].port', 53);
    expect(merge({ spec: { ports: [{ $patch: 'replace' }, { port: 1 }] } }))
      .to.have.nested.property('spec.ports')
      .deep.equal([{ port: 1 }]);
    expect(merge({ spec: { $patch: 'replace', type: 'ClusterIP' } }))
      .to.have.property('spec')
      .deep.equal({ type: 'ClusterIP' });
  });

  it('keeps only the named fields under $retainKeys', () => {
    expect(merge({ spec: { $retainKeys: ['type'], type: 'ClusterIP' } }))
      .to.have.property('spec')
      .deep.equal({ type: 'ClusterIP' });
  });

  it('joins lists of plain values and deletes from them', () => {
    expect(merge({ metadata: { finalizers: ['b'] } }))
      .to.have.nested.property('metadata.finalizers')
      .deep.equal(['a', 'b']);
    expect(merge({ metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } }))
      .to.have.nested.property('metadata.finalizers')
      .deep.equal([]);
  });

  it('tells ports apart by number and protocol in server-side apply', () => {
    const applied = strategicMerge(
      { spec: { ports: [{ port: 53 }] } },
      { spec: { ports: [{ port: 53, protocol: 'UDP' }] } },
      applyMergeKeys('Service'),
    );
    expect(applied).to.have.nested.property('spec.ports').with.length(2);
  });
});
