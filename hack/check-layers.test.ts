import { expect } from 'chai';
import { checkLayers } from './check-layers.ts';

describe('hack/check-layers', () => {
  const cases = [
    {
      name: 'lets a folder use one below',
      file: 'sync/a.ts',
      text: "import { b } from '../plan/b.ts';",
      message: undefined,
    },
    {
      name: 'refuses an import that points up',
      file: 'plan/a.ts',
      text: "import type { B } from '../sync/b.ts';",
      message: 'above',
    },
    {
      name: 'refuses a neighbour of the same row',
      file: 'kube/a.ts',
      text: "export { b } from '../apply/b.ts';",
      message: 'beside',
    },
    {
      name: 'refuses one tool of kernel/ in another',
      file: 'kernel/ipvs/a.ts',
      text: "import { b } from '../ipset/b.ts';",
      message: 'tools',
    },
    {
      name: 'lets kernel/ itself use its tools',
      file: 'kernel/a.ts',
      text: "import { b } from './ipset/b.ts';",
      message: undefined,
    },
    {
      name: 'refuses a package in a folder that does not own it',
      file: 'sync/a.ts',
      text: "import { execa } from 'execa';",
      message: 'only apply may',
    },
    {
      name: 'refuses a part of a package too',
      file: 'cli/a.ts',
      text: "import x from '@kubernetes/client-node/dist/x.js';",
      message: 'only kube may',
    },
    {
      name: 'refuses a package that nobody owns',
      file: 'kube/a.ts',
      text: "import 'left-pad';",
      message: 'only nobody may',
    },
    {
      name: 'refuses a dynamic import as well',
      file: 'net/a.ts',
      text: "const b = import('../model/b.ts');",
      message: 'above',
    },
    {
      name: 'refuses the runtime in a pure folder',
      file: 'net/a.ts',
      text: "import { isIP } from 'node:net';",
      message: 'must not import',
    },
    {
      name: 'refuses asynchronous code in a pure folder',
      file: 'plan/a.ts',
      text: 'export async function plan() {}',
      message: 'uses async',
    },
    {
      name: 'does not read comments',
      file: 'plan/a.ts',
      text: "/** import { b } from '../sync/b.ts'; async */",
      message: undefined,
    },
  ];

  for (const { name, file, text, message } of cases) {
    it(name, () => {
      const messages = checkLayers(new Map([[file, text]])).map((violation) => violation.message);
      if (message === undefined) expect(messages).to.deep.equal([]);
      else expect(messages.join()).to.include(message);
    });
  }
});
