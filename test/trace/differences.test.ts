import { INPUT } from './rows/input.ts';
import { RANGES_AND_NODE_PORTS } from './rows/ranges-and-node-ports.ts';
import { WITHOUT_LOCAL } from './rows/without-local.ts';
import { testRows } from './rows.ts';

describe('test/trace/differences', () => {
  testRows([...WITHOUT_LOCAL, ...INPUT, ...RANGES_AND_NODE_PORTS]);
});
