import { createHash } from 'node:crypto';
import type { DebianPackage } from './debian-packages.ts';
import type { LockedPackage } from './locked-packages.ts';

/** What an image is made of. */
export interface Ingredients {
  readonly program: { readonly name: string; readonly version: string; readonly license: string };
  readonly runtimeVersion: string;
  readonly npm: readonly LockedPackage[];
  readonly debian: readonly DebianPackage[];
}

interface Component {
  readonly type: 'library' | 'application';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly { readonly expression: string }[];
}

/** A bill of materials in CycloneDX 1.5. Its serial number is made from its content. A package that stands twice is named once. */
export function billOfMaterials({ program, runtimeVersion, npm, debian }: Ingredients) {
  const all = [runtime(runtimeVersion), ...npm.map(npmComponent), ...debian.map(debianComponent)];
  const components = all.filter(({ purl }, index) => all.findIndex((other) => other.purl === purl) === index);
  const digest = createHash('sha256')
    .update(JSON.stringify([program, components]))
    .digest('hex');
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuid(digest)}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': program.name,
        name: program.name,
        version: program.version,
        licenses: [{ expression: program.license }],
      },
    },
    components,
  };
}

/** Version 8 (RFC 9562): of the digest's own making. */
function uuid(digest: string): string {
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

function runtime(version: string): Component {
  const purl = `pkg:generic/nodejs@${version}`;
  return { type: 'application', 'bom-ref': purl, name: 'node', version, purl, licenses: [{ expression: 'MIT' }] };
}

function npmComponent({ name, version, integrity, license }: LockedPackage): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [algorithm = '', digest = ''] = integrity?.split('-') ?? [];
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(algorithm === 'sha512'
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
      : {}),
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
  };
}

function debianComponent({ name, version, architecture, source }: DebianPackage): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&upstream=${encodeURIComponent(source)}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}
