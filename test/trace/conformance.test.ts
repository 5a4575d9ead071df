import { AFFINITY_AND_LABELS } from './rows/affinity-and-labels.ts';
import { CHANGES } from './rows/changes.ts';
import { ENDPOINTS } from './rows/endpoints.ts';
import { NETWORKING } from './rows/networking.ts';
import { POLICIES } from './rows/policies.ts';
import { REACH } from './rows/reach.ts';
import { testRows } from './rows.ts';

describe('test/trace/conformance', () => {
  testRows([...REACH, ...CHANGES, ...ENDPOINTS, ...POLICIES, ...AFFINITY_AND_LABELS, ...NETWORKING]);
});
