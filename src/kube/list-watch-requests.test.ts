import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { succeed } from '../model/result.ts';
import type { ApiTransport } from './client-transport.ts';
import { RequestPace } from './list-watch-pace.ts';
import { requestList } from './list-watch-requests.ts';

const MEGABYTE = Buffer.alloc(1024 * 1024, ' ');

describe('kube/list-watch-requests', () => {
  /** Asks a server whose page of one object is so long. */
  async function ask(megabytes: number) {
    const item = { metadata: { name: 'a', resourceVersion: '1' } };
    const transport: ApiTransport = {
      send: async (_, sink) => {
        for (let sent = 0; sent < megabytes; sent += 1) sink.chunk(MEGABYTE);
        sink.chunk(Buffer.from(JSON.stringify({ metadata: { resourceVersion: '2' }, items: [item] })));
        return succeed(undefined);
      },
      close: () => {},
    };
    const clock = new SteppedClock();
    const { signal } = new AbortController();
    const resource = { name: 'endpointslices', path: '/x' };
    return requestList({ transport, resource, clock, pace: new RequestPace(clock), signal }, '', ({ key }) => key);
  }

  it('take a page of 200 MB, as large objects make it', async () => {
    const list = await ask(200);
    expect(list.ok && [...list.value.objects.values()]).to.deep.equal(['/a']);
  });

  it('take none of 300 MB', async () => {
    expect(await ask(300)).to.have.nested.property('error.kind', 'malformed');
  });
});
