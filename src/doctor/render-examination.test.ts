import { expect } from 'chai';
import { succeed } from '../model/result.ts';
import { examine, GROUPS } from './examine.ts';
import { HEALTHY, WISHES } from './facts-fixture.ts';
import { countFindings, describeExamination, renderExamination } from './render-examination.ts';

describe('doctor/render-examination', () => {
  it('says of each group what was found, the worst first, and the sums last', () => {
    const checked = {
      findings: [
        { level: 'note', id: 'one', saw: 'a', matters: 'b', remedy: 'c' },
        { level: 'error', id: 'two', saw: 'd', matters: 'e', remedy: 'f' },
      ],
      notChecked: [{ what: 'g', why: 'h' }],
    } as const;
    const none = { group: 'tools', checked: { findings: [], notChecked: [] } } as const;
    expect(renderExamination([{ group: 'kernel', checked }, none])).to.equal(`kernel
  error: d [two]
    e
    remedy: f
  note: a [one]
    b
    remedy: c
  not checked: g: h

tools
  nothing found

doctor: 1 errors, 0 warnings
`);
  });

  it('finds neither errors nor warnings on a healthy node', () => {
    const examinations = examine(HEALTHY, WISHES);
    expect(examinations.map(({ group }) => group)).to.deep.equal(GROUPS);
    expect(countFindings(examinations)).to.deep.equal({ errors: 0, warnings: 0 });
    expect(renderExamination(examinations)).to.match(/\ndoctor: 0 errors, 0 warnings\n$/);
  });

  it('counts what could not be checked neither as fine nor as found', () => {
    const { errors, warnings, findings, notChecked } = describeExamination(
      examine({ ...HEALTHY, apiServer: succeed(undefined) }, WISHES),
    );
    expect([errors, warnings, findings]).to.deep.equal([0, 0, []]);
    expect(notChecked.map(({ group, what }) => `${group}: ${what}`)).to.deep.equal([
      'addresses: whether the range of Services overlaps networks of the node',
      'API server: the API server',
    ]);
  });
});
