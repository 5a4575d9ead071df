import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { openTrace, readTrace } from './read-trace.ts';

describe('replay/read-trace', () => {
  const line = (atMs: number, name = 'cart') =>
    JSON.stringify({
      atMs,
      type: 'ADDED',
      object: { apiVersion: 'v1', kind: 'Service', metadata: { name, resourceVersion: '1' } },
    });

  /** Reads input that comes in pieces of so many bytes. */
  async function read(input: Readable) {
    const [times, faults]: [number[], string[]] = [[], []];
    for await (const events of readTrace(input, (fault) => faults.push(`${fault.line}: ${fault.message}`)))
      times.push(...events.map(({ atMs }) => atMs));
    return { times, faults };
  }
  const pieces = (bytes: Buffer, size: number) =>
    Readable.from(
      Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      ),
    );

  const text = `${[0, 0, 5, 7.5].map((atMs) => line(atMs, 'käse')).join('\n')}\n`;
  for (const size of [1, 7, 1_000]) {
    it(`reads lines in pieces of ${size} bytes, compressed or not`, async () => {
      const wanted = { times: [0, 0, 5, 7.5], faults: [] };
      expect(await read(pieces(Buffer.from(text), size))).to.deep.equal(wanted);
      expect(await read(pieces(gzipSync(text), Math.max(2, size)))).to.deep.equal(wanted);
    });
  }

  it('reads a last line without its end, and passes over empty lines', async () => {
    const input = Readable.from([Buffer.from(`\n${line(1)}\n\n\r\n${line(2)}`)]);
    expect(await read(input)).to.deep.equal({ times: [1, 2], faults: [] });
  });

  it('names the line of each thing that is no event, and reads the rest', async () => {
    const input = Readable.from([Buffer.from(`${line(5)}\n\nnonsense\n${line(6)}\n{}\n${line(4)}\n${line(6)}\n`)]);
    const { times, faults } = await read(input);
    expect(times).to.deep.equal([5, 6, 6]);
    expect(faults.map((fault) => fault.slice(0, 20))).to.deep.equal([
      '3: it is not JSON: U',
      '5: atMs is undefined',
      '6: atMs is 4, before',
    ]);
  });

  it('passes over what comes more than 366 days after the first event, and reads the rest', async () => {
    const yearMs = 366 * 86_400_000;
    const epochMs = 1_700_000_000_000;
    for (const startMs of [0, epochMs]) {
      const times = [startMs, startMs + 5, 1e15, startMs + 7, startMs + yearMs, startMs + yearMs + 1];
      const input = Readable.from([Buffer.from(times.map((atMs) => line(atMs)).join('\n'))]);
      expect(await read(input)).to.deep.equal({
        times: [startMs, startMs + 5, startMs + 7, startMs + yearMs],
        faults: [3, 6].map(
          (number) =>
            `${number}: atMs is ${times[number - 1]}, more than 366 days after the ${startMs} of the first event`,
        ),
      });
    }
  });

  it('reads compressed input as far as it goes', async () => {
    const many = Array.from({ length: 500 }, (_, number) => line(number, `cart-${number}`)).join('\n');
    const { times, faults } = await read(Readable.from([gzipSync(many).subarray(0, 2_000)]));
    expect(times.length).to.be.greaterThan(10);
    expect(faults).to.have.lengthOf(1);
    expect(faults[0]).to.match(new RegExp(`^${times.length + 1}: it is not JSON`));
  });

  it('says that compressed input is damaged', async () => {
    const bytes = gzipSync(text);
    bytes.fill(0xff, 12, 40);
    expect((await read(Readable.from([bytes]))).faults[0]).to.match(/^0: the compressed data are damaged/);
  });

  it('says that there is no such file', async () => {
    expect(await read(openTrace('/nowhere/trace'))).to.deep.equal({ times: [], faults: ['0: no such file'] });
  });

  it('says that it is a folder', async () => {
    expect(await read(openTrace('/'))).to.deep.equal({ times: [], faults: ['0: it is a folder'] });
  });

  it('reads nothing from nothing', async () => {
    expect(await read(Readable.from([]))).to.deep.equal({ times: [], faults: [] });
  });
});
