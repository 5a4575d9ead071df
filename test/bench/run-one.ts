/** Runs one benchmark at one size in this process, and prints its figures as JSON. Usage: node --expose-gc test/bench/run-one.ts NAME SIZE */
import { BENCHES } from './benches.ts';

const [name, size] = process.argv.slice(2);
const bench = BENCHES.find((each) => each.name === name);
if (!bench) throw new Error(`there is no benchmark ${name}`);
process.stdout.write(`${JSON.stringify(await bench.run(Number(size)))}\n`);
