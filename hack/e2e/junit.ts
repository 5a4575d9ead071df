import { failedOf, type NotRun, type Outcome, type SuiteResults } from './outcome.ts';

/** JUnit's XML: a suite for each run, and one with a single skipped test for each that did not run. */
export function renderJunit(results: readonly SuiteResults[], notRun: readonly NotRun[]): string {
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="ipvs-proxier e2e">',
    ...results.flatMap(suiteLines),
    ...notRun.flatMap(({ suite, reason }) => [
      `  <testsuite name="${escaped(suite)}" tests="1" failures="0" errors="0" skipped="1">`,
      `    <testcase classname="${escaped(suite)}" name="not run"><skipped message="${escaped(reason)}"/></testcase>`,
      '  </testsuite>',
    ]),
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

function suiteLines(results: SuiteResults): readonly string[] {
  const { suite, seconds, outcomes } = results;
  const counts = `tests="${outcomes.length}" failures="${failedOf(results).length}" errors="0" skipped="0"`;
  return [
    `  <testsuite name="${escaped(suite)}" ${counts} time="${seconds}">`,
    ...outcomes.flatMap((outcome) => caseLines(suite, outcome)),
    '  </testsuite>',
  ];
}

function caseLines(suite: string, { name, seconds, failure }: Outcome): readonly string[] {
  const start = `    <testcase classname="${escaped(suite)}" name="${escaped(name)}" time="${seconds}"`;
  if (failure === undefined) return [`${start}/>`];
  const message = escaped(failure.split('\n')[0] ?? '');
  return [`${start}>`, `      <failure message="${message}">${escaped(failure)}</failure>`, '    </testcase>'];
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Control characters have no place in XML, however written; line breaks in attributes would be lost. */
function escaped(text: string): string {
  const printable = [...text]
    .filter((character) => character >= ' ' || character === '\n' || character === '\t')
    .join('');
  return printable.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
