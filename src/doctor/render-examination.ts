import type { Examination } from './examine.ts';
import type { Finding, FindingLevel } from './finding.ts';

/** For people: what was found by group, and a last line with the sums. */
export function renderExamination(examinations: readonly Examination[]): string {
  const groups = examinations.map(({ group, checked }) => {
    const lines = [
      ...checked.findings.toSorted(byLevel).flatMap(describeFinding),
      ...checked.notChecked.map(({ what, why }) => `  not checked: ${what}: ${why}`),
    ];
    return `${group}\n${(lines.length === 0 ? ['  nothing found'] : lines).join('\n')}\n`;
  });
  const { errors, warnings } = countFindings(examinations);
  return `${groups.join('\n')}\ndoctor: ${errors} errors, ${warnings} warnings\n`;
}

/** For programs; the same in JSON and YAML. */
export function describeExamination(examinations: readonly Examination[]) {
  const { errors, warnings } = countFindings(examinations);
  return {
    errors,
    warnings,
    findings: examinations.flatMap(({ group, checked }) => checked.findings.map((each) => ({ group, ...each }))),
    notChecked: examinations.flatMap(({ group, checked }) => checked.notChecked.map((each) => ({ group, ...each }))),
  };
}

export function countFindings(examinations: readonly Examination[]) {
  const findings = examinations.flatMap(({ checked }) => checked.findings);
  const count = (wanted: FindingLevel) => findings.filter(({ level }) => level === wanted).length;
  return { errors: count('error'), warnings: count('warning') };
}

function describeFinding({ level, id, saw, matters, remedy }: Finding): readonly string[] {
  return [`  ${level}: ${saw} [${id}]`, `    ${matters}`, `    remedy: ${remedy}`];
}

function byLevel(a: Finding, b: Finding): number {
  return ORDER.indexOf(a.level) - ORDER.indexOf(b.level);
}

const ORDER: readonly FindingLevel[] = ['error', 'warning', 'note'];
