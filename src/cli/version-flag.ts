import { fail, type Result, succeed } from '../model/result.ts';

/** What `--version` asks for. */
export type VersionWish =
  /** To go on, with the version that is to be reported, without the `v`. */
  { readonly kind: 'go-on'; readonly version: string } | { readonly kind: 'print'; readonly text: string };

/**
 * Understands a value of `--version`: a boolean, `raw` for all that is known of the build, or a version `vX.Y.Z` with any suffix, under which
 * the program goes on. The error is a line for a person. `version` is the program's own, without a `v`.
 *
 * Source: kubernetes/component-base version/verflag
 */
export function readVersionFlag(value: string | undefined, version: string): Result<VersionWish, string> {
  if (value === undefined || FALSE.includes(value)) return succeed({ kind: 'go-on', version });
  if (TRUE.includes(value)) return succeed({ kind: 'print', text: `ipvs-proxier ${version}\n` });
  if (value === 'raw') return succeed({ kind: 'print', text: `${JSON.stringify(rawVersion(version))}\n` });
  const [, reported] = /^v(\d+\.\d+\.\d+(?:[-+][\w.+-]+)?)$/.exec(value) ?? [];
  if (reported !== undefined) return succeed({ kind: 'go-on', version: reported });
  return fail(`--version: ${JSON.stringify(value)} is neither true, false or raw, nor a version such as v1.2.3`);
}

/** As Go reads booleans. */
const TRUE: readonly string[] = ['', '1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** Under the names of an API server's /version. */
function rawVersion(version: string): object {
  const [major, minor] = version.split('.');
  const { version: nodeVersion, platform, arch } = process;
  return { major, minor, gitVersion: `v${version}`, nodeVersion, platform: `${platform}/${arch}` };
}
