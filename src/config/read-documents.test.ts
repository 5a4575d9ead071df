import { expect } from 'chai';
import { readDocuments } from './read-documents.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
const OWN = 'apiVersion: ipvs-proxier.dev/v1alpha1\nkind: IPVSProxierConfiguration\n';
const EXPECTED =
  'must be KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1) or IPVSProxierConfiguration (ipvs-proxier.dev/v1alpha1)';

describe('config/read-documents', () => {
  it('reads both documents in either order, with empty ones between', () => {
    const text = `# ours first\n${OWN}behaviour: kube-proxy\n---\n# nothing\n---\n${HEAD}mode: ipvs\n---\n`;
    const read = readDocuments({ name: 'c.yaml', text });
    expect(read.ok && [read.value.kubeProxy.mode, read.value.own.behaviour]).to.deep.equal(['ipvs', 'kube-proxy']);
  });

  it('reads JSON, indented with tabs', () => {
    const text = JSON.stringify(
      { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration', ipvs: { strictARP: true } },
      null,
      '\t',
    );
    expect(kubeProxyOf(text)).to.deep.include({ ipvs: { strictARP: true } });
  });

  it('reads null as absent, merged mappings, and booleans in the words of YAML 1.1', () => {
    const text = `${HEAD}mode: null\nipvs: &x {strictARP: yes}\niptables: {<<: {masqueradeAll: On}, localhostNodePorts: no}\n`;
    const { apiVersion, kind, ...fields } = kubeProxyOf(text) ?? {};
    expect(fields).to.deep.equal({
      ipvs: { strictARP: true },
      iptables: { masqueradeAll: true, localhostNodePorts: false },
    });
  });

  const broken: { name: string; text: string; message: string | RegExp }[] = [
    {
      name: 'bad indentation with its line and column',
      text: `${HEAD}ipvs:\n  scheduler: rr\n strictARP: true\n`,
      message: /^line 5, column 1: /,
    },
    {
      name: 'a duplicate key',
      text: `${HEAD}mode: ipvs\nmode: ""\n`,
      message: /^line 4, column 1: Map keys must be unique/,
    },
    { name: 'broken syntax in a later document', text: `${HEAD}---\na: [\n`, message: /^line 5, column 1: / },
    { name: 'an alias without its anchor', text: `${HEAD}mode: *nowhere\n`, message: /[Aa]lias.*nowhere/ },
    {
      name: 'an empty file',
      text: '# nothing\n',
      message: 'no document of kind KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1); found nothing',
    },
    {
      name: 'a file with our document alone',
      text: OWN,
      message: 'no document of kind KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1); found only others',
    },
    {
      name: 'a document of another kind',
      text: `${HEAD}---\nkind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\n`,
      message: `${EXPECTED}; got kind "ClusterConfiguration" of apiVersion "kubeadm.k8s.io/v1beta4"`,
    },
    {
      name: 'another version',
      text: HEAD.replace('v1alpha1', 'v1alpha2'),
      message: `${EXPECTED}; got kind "KubeProxyConfiguration" of apiVersion "kubeproxy.config.k8s.io/v1alpha2"`,
    },
    { name: 'a document without a kind', text: 'mode: ipvs\n', message: `${EXPECTED}; got kind "" of apiVersion ""` },
    { name: 'text that is no mapping', text: 'ipvs\n', message: `${EXPECTED}; got a document that is no mapping` },
    {
      name: 'the same kind twice',
      text: `${HEAD}---\n${HEAD}`,
      message: 'more than one document of kind KubeProxyConfiguration; only one is allowed',
    },
  ];
  for (const { name, text, message } of broken) {
    it(`refuses ${name}`, () => {
      const read = readDocuments({ name: 'c.yaml', text });
      const errors = read.ok ? [] : read.error;
      expect(errors.map(({ where, field }) => [where, field])).to.deep.equal([['c.yaml', '']]);
      if (typeof message === 'string') expect(errors[0]?.message).to.equal(message);
      else expect(errors[0]?.message).to.match(message);
    });
  }
});

function kubeProxyOf(text: string) {
  const read = readDocuments({ name: 'c.yaml', text });
  return read.ok ? read.value.kubeProxy : undefined;
}
