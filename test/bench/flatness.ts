import { preparedNode } from './changing-node.ts';
import { clusterObjects } from './cluster.ts';
import { type Bench, median, SIZES } from './figure.ts';
import { measureInTurn } from './measure.ts';

const [SMALLEST = 0, ...OTHERS] = SIZES;

/** Two nodes take turns in one process. */
export const flatness: Bench = {
  name: 'flatness',
  title: `one endpoint changes, against the same with ${SMALLEST} Services`,
  sizes: OTHERS,
  processes: 1,
  run: async (size) => {
    const works = [await preparedNode(clusterObjects(SMALLEST)), await preparedNode(clusterObjects(size))];
    const [small = [], large = []] = await measureInTurn(works, { warmUp: 400, samples: 20 });
    return [
      {
        what: `event and pass ÷ the same with ${SMALLEST} Services`,
        unit: '×',
        samples: [median(large) / median(small)],
        goal: { atMost: 1.2, at: 'every size' },
      },
      { what: `event and pass with ${SMALLEST} Services`, unit: 'ms', samples: small },
      { what: 'event and pass', unit: 'ms', samples: large },
    ];
  },
};
