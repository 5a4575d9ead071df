import { expect } from 'chai';
import { nodeSelection, otherNodesSelection, SERVICE_SELECTION, SLICE_SELECTION } from './selectors.ts';

describe('kube/selectors', () => {
  const labelled = (labels: Readonly<Record<string, string>>, more: object = {}) => ({
    metadata: { name: 'node-a', labels },
    ...more,
  });
  const proxyName = { 'service.kubernetes.io/service-proxy-name': 'other' };
  const headless = { 'service.kubernetes.io/headless': '' };

  it('asks the API server for what kube-proxy 1.36 asks for', () => {
    const asked = [SERVICE_SELECTION, SLICE_SELECTION, nodeSelection('node-a')].map(
      ({ labelSelector, fieldSelector }) => [labelSelector, fieldSelector],
    );
    expect(asked).to.deep.equal([
      ['!service.kubernetes.io/service-proxy-name', 'spec.clusterIP!=None'],
      ['!service.kubernetes.io/headless', undefined],
      [undefined, 'metadata.name=node-a'],
    ]);
  });

  it('asks for the other Nodes apart from the own one', () =>
    expect(otherNodesSelection('node-a').fieldSelector).to.equal('metadata.name!=node-a'));

  const cases: readonly (readonly [string, { selects(json: unknown): boolean }, unknown, boolean])[] = [
    ['a plain Service', SERVICE_SELECTION, { spec: { clusterIP: '172.20.1.1' } }, true],
    ['a Service of another proxy', SERVICE_SELECTION, labelled(proxyName), false],
    [
      'a Service whose label of another proxy is empty',
      SERVICE_SELECTION,
      labelled({ 'service.kubernetes.io/service-proxy-name': '' }),
      false,
    ],
    ['a headless Service', SERVICE_SELECTION, { spec: { clusterIP: 'None' } }, false],
    [
      'a Service with the headless label',
      SERVICE_SELECTION,
      labelled(headless, { spec: { clusterIP: '172.20.1.1' } }),
      true,
    ],
    ['a Service without anything', SERVICE_SELECTION, {}, true],
    ['a plain slice', SLICE_SELECTION, labelled({}), true],
    ['a slice of a headless Service', SLICE_SELECTION, labelled(headless), false],
    ['a slice of a Service of another proxy', SLICE_SELECTION, labelled(proxyName), true],
    ['the own Node', nodeSelection('node-a'), labelled({}), true],
    ['another Node', nodeSelection('node-b'), labelled({}), false],
    ['no object at all', nodeSelection('node-a'), null, false],
    ['the own Node among the others', otherNodesSelection('node-a'), labelled({}), false],
    ['another Node among the others', otherNodesSelection('node-b'), labelled({}), true],
  ];
  for (const [name, selection, json, selected] of cases) {
    it(`${selected ? 'selects' : 'passes over'} ${name}`, () => expect(selection.selects(json)).to.equal(selected));
  }
});
