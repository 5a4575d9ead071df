import { fail, type Result, succeed } from '../model/result.ts';
import type { UnselectedService } from '../model/service.ts';
import { describeApiError } from './client-errors.ts';
import { type ApiTransport, callList } from './client-transport.ts';
import { decodeService } from './decode-service.ts';
import { LEFT_TO_OTHERS, otherProxyOf, SERVICE_SELECTION } from './selectors.ts';

/** A Service that is not for this proxy; undefined for one that is, or has no name. What is wrong with it is not told. */
export function decodeUnselected(json: unknown): UnselectedService | undefined {
  if (SERVICE_SELECTION.selects(json)) return undefined;
  const { value: service } = decodeService(json);
  return service && { service, otherProxy: otherProxyOf(json) };
}

const RESOURCE = 'services';

/** Those of a name, in every namespace; or `addressed`: all that may have an address. */
export type UnselectedQuery = { readonly name: string } | 'addressed';

/** Asks for a list, which is what a proxy may ask for; a single Service is not. The error is one line for a person. */
export async function listUnselected(
  transport: ApiTransport,
  asked: UnselectedQuery,
): Promise<Result<readonly UnselectedService[], string>> {
  const found: UnselectedService[] = [];
  const selector = asked === 'addressed' ? LEFT_TO_OTHERS : { fieldSelector: `metadata.name=${asked.name}` };
  const query = { ...selector, resourceVersion: '0' };
  const listed = await callList(transport, { method: 'GET', path: `/api/v1/${RESOURCE}`, query }, (json) => {
    const unselected = decodeUnselected(json);
    if (unselected) found.push(unselected);
  });
  return listed.ok ? succeed(found) : fail(`${RESOURCE} could not be listed: ${describeApiError(listed.error)}`);
}
