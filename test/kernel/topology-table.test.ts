import { expect } from 'chai';
import { memoryKernel } from './memory-kernel.ts';
import { expectedLines, linesOfRow, loadRowGroups, programRows, ROW_NODE_LINKS } from './topology-rows.ts';

describe('test/kernel/topology-table', () => {
  for (const group of loadRowGroups()) {
    describe(`a node in ${JSON.stringify(group.node.zone)} as its zone`, () => {
      const kernel = memoryKernel(ROW_NODE_LINKS);
      before('one pass over all rows', () => programRows(group, kernel));

      for (const row of group.rows) {
        it(`has real servers as row ${row.name} says`, () => {
          expect(linesOfRow(row, kernel.ipvs.save().split('\n'))).to.deep.equal(expectedLines(row));
        });
      }
    });
  }
});
