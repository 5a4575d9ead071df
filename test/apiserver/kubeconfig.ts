import { stringify } from 'yaml';

/** What goes into a kubeconfig. */
export interface KubeconfigParts {
  readonly server: string;
  /** PEM text of the authority; absent for a server without TLS. */
  readonly ca?: string | undefined;
  readonly token?: string | undefined;
  /** Path of a file that holds the token, instead of `token`. */
  readonly tokenFile?: string | undefined;
  /** Paths of a certificate and its key, besides the token. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
}

/**
 * A kubeconfig as YAML text, with one cluster, one user and one context, all called `test`. There is always a token: without any
 * credentials kubectl asks for a name on the terminal.
 */
export function kubeconfigText({ server, ca, token, tokenFile, clientCertificate }: KubeconfigParts): string {
  const trust =
    ca === undefined
      ? { 'insecure-skip-tls-verify': true }
      : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const certificate = clientCertificate
    ? { 'client-certificate': clientCertificate.cert, 'client-key': clientCertificate.key }
    : {};
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, ...trust } }],
    users: [{ name: 'test', user: { ...(tokenFile ? { tokenFile } : { token: token || 'anybody' }), ...certificate } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}
