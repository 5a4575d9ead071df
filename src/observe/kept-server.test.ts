import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import { KeptServer } from './kept-server.ts';
import type { Listening } from './listen.ts';

describe('observe/kept-server', () => {
  let clock: SteppedClock;
  let tries: Result<Listening, string>[];
  let told: string[];

  const opened: Result<Listening, string> = succeed({ port: 10256, close: async () => void told.push('closed') });

  beforeEach(() => {
    clock = new SteppedClock();
    told = [];
  });

  /** A server whose tries have these outcomes, one after the other. */
  function server(...outcomes: readonly Result<Listening, string>[]): KeptServer {
    tries = [...outcomes];
    return new KeptServer({
      where: { address: { everywhere: 'both' }, port: 10256 },
      answer: () => {},
      listen: async () => tries.shift() ?? opened,
      clock,
      hardFail: false,
      failed: (message) => told.push(message),
      recovered: () => told.push('listens'),
    });
  }

  it('says nothing when it listens at once', async () => {
    await server(opened).start();
    expect(told).to.deep.equal([]);
  });

  it('tells once why it cannot listen, however often it tries, again when the reason changes, and that it listens after all', async () => {
    const kept = server(fail('EADDRINUSE'), fail('EADDRINUSE'), fail('EADDRINUSE'), fail('EADDRNOTAVAIL'), opened);
    await kept.start();
    await clock.advance(10_000);
    expect([told, tries.length]).to.deep.equal([['EADDRINUSE'], 2]);
    await clock.advance(10_000);
    expect(told).to.deep.equal(['EADDRINUSE', 'EADDRNOTAVAIL', 'listens']);
    expect(kept.port).to.equal(10256);
  });

  it('tries no more once it is stopped', async () => {
    const kept = server(fail('EADDRINUSE'), opened);
    await kept.start();
    await kept.stop();
    await clock.advance(60_000);
    expect([kept.port, tries.length]).to.deep.equal([undefined, 1]);
  });
});
