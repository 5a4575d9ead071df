import { fail, type Result, succeed } from '../model/result.ts';
import type { UnselectedService } from '../model/service.ts';
import { describeApiError } from './client-errors.ts';
import { type ApiTransport, callList } from './client-transport.ts';
import { decodeService } from './decode-service.ts';
import { otherProxyOf, SERVICE_SELECTION } from './selectors.ts';

/** A Service that is not for this proxy; undefined for one that is, or has no name. What is wrong with it is not told. */
export function decodeUnselected(json: unknown): UnselectedService | undefined {
  if (SERVICE_SELECTION.selects(json)) return undefined;
  const { value: service } = decodeService(json);
  return service && { service, otherProxy: otherProxyOf(json) };
}

const RESOURCE = 'services';

/** Asks for those of this name, in every namespace: lists are what a proxy may ask for, a single Service is not. The error is one line for a person. */
export async function listUnselected(
  transport: ApiTransport,
  name: string,
): Promise<Result<readonly UnselectedService[], string>> {
  const found: UnselectedService[] = [];
  const query = { fieldSelector: `metadata.name=${name}`, resourceVersion: '0' };
  const listed = await callList(transport, { method: 'GET', path: `/api/v1/${RESOURCE}`, query }, (json) => {
    const unselected = decodeUnselected(json);
    if (unselected) found.push(unselected);
  });
  return listed.ok ? succeed(found) : fail(`${RESOURCE} could not be listed: ${describeApiError(listed.error)}`);
}
