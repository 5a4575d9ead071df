import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** PEM texts: an authority made for one server, and the server's certificate and key. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * Makes a certificate authority and a server certificate for 127.0.0.1, ::1, localhost and `addresses` (IP addresses or names), valid
 * for ten years. Runs openssl (3.0 or newer); rejects when it is missing or fails.
 */
export async function makeCertificates(addresses: readonly string[]): Promise<Certificates> {
  const directory = await mkdtemp(join(tmpdir(), 'apiserver-'));
  const path = (name: string) => join(directory, name);
  try {
    await openssl('/CN=test-ca', path('ca.key'), path('ca.crt'), ['-addext', 'keyUsage=critical,keyCertSign,cRLSign']);
    const names = [...new Set(['127.0.0.1', '::1', 'localhost', ...addresses])].map(alternativeName).join(',');
    const signed = ['-CA', path('ca.crt'), '-CAkey', path('ca.key'), '-addext', 'basicConstraints=critical,CA:FALSE'];
    await openssl('/CN=test-apiserver', path('tls.key'), path('tls.crt'), [
      ...signed,
      '-addext',
      `subjectAltName=${names}`,
    ]);
    const [ca, cert, key] = await Promise.all(
      ['ca.crt', 'tls.crt', 'tls.key'].map((name) => readFile(path(name), 'utf8')),
    );
    return { ca: ca ?? '', cert: cert ?? '', key: key ?? '' };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function openssl(subject: string, keyOut: string, certOut: string, more: readonly string[]): Promise<void> {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyOut];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    ...key,
    '-out',
    certOut,
    '-days',
    '3650',
    '-subj',
    subject,
    ...more,
  ]);
}

function alternativeName(address: string): string {
  return `${isIP(address) === 0 ? 'DNS' : 'IP'}:${address}`;
}
