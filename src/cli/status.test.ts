import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { StatusArguments } from './arguments.ts';
import { printStatus } from './status.ts';
import { STATUS } from './status-fixture.ts';

describe('cli/status', () => {
  let server: Server;
  let host = '';
  let answer: { readonly status: number; readonly body: string };
  let asked: string[];

  beforeEach(async () => {
    asked = [];
    answer = { status: 200, body: JSON.stringify(STATUS) };
    server = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(answer.status).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  async function run(given: Partial<StatusArguments> = {}) {
    const [printed, errors]: [string[], string[]] = [[], []];
    const terminal = {
      output: async (text: string) => {
        printed.push(text);
      },
      error: (line: string) => errors.push(line),
      input: async () => '',
    };
    const exitCode = await printStatus({ flags: { 'metrics-bind-address': host }, form: 'text', ...given }, terminal);
    return { exitCode, printed: printed.join(''), errors };
  }

  it('prints the totals for people, and asks for no more', async () => {
    const { exitCode, printed, errors } = await run();
    expect([exitCode, errors, asked]).to.deep.equal([0, [], ['/status']]);
    expect(printed).to.match(/^ipvs-proxier 1\.2\.3 on node-a: /);
  });

  it('prints everything for programs', async () => {
    expect(JSON.parse((await run({ form: 'json' })).printed)).to.deep.equal(STATUS);
    expect(parse((await run({ form: 'yaml' })).printed)).to.deep.equal(STATUS);
    expect(asked).to.deep.equal(['/status?service=all', '/status?service=all']);
  });

  it('asks for one Service only, whatever the form', async () => {
    await run({ service: 'shop/cart' });
    await run({ service: 'shop/cart', form: 'json' });
    expect(asked).to.deep.equal(Array(2).fill('/status?service=shop%2Fcart'));
    answer = { status: 404, body: 'no such Service is served\n' };
    expect(await run({ service: 'shop/cart' })).to.deep.equal({
      exitCode: 1,
      printed: '',
      errors: ['error: the daemon serves no Service shop/cart'],
    });
  });

  const others = [
    { status: 404, body: '404 page not found\n' },
    { status: 200, body: 'hello' },
    { status: 200, body: '{}' },
    { status: 200, body: 'null' },
  ];
  for (const other of others) {
    it(`tells that it is another program that answers ${other.status} ${other.body.trim()}`, async () => {
      answer = other;
      const { exitCode, errors } = await run();
      expect([exitCode, errors]).to.deep.equal([
        1,
        [`error: what listens on ${host} is no ipvs-proxier, or one of an older version`],
      ]);
    });
  }

  it('tells in one line that nobody answers, and how to say where the daemon is', async () => {
    await new Promise((resolve) => server.close(resolve));
    const { exitCode, printed, errors } = await run();
    expect([exitCode, printed, errors]).to.deep.equal([
      1,
      '',
      [`error: no daemon answers on ${host}: ECONNREFUSED; give its --config or --metrics-bind-address`],
    ]);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  it('tells why a port is not even tried', async () => {
    const { errors } = await run({ flags: { 'metrics-bind-address': '127.0.0.1:1' } });
    expect(errors[0]).to.include('no daemon answers on 127.0.0.1:1: bad port; ');
  });

  it('asks a server that listens everywhere on the loopback address', async () => {
    const { exitCode } = await run({ flags: { 'metrics-bind-address': host.replace('127.0.0.1', '0.0.0.0') } });
    expect(exitCode).to.equal(0);
  });

  it('ends with 2 when it is told no address', async () => {
    expect((await run({ flags: { 'metrics-bind-address': 'here' } })).exitCode).to.equal(2);
  });
});
