import { expect } from 'chai';
import { renderJunit } from './junit.ts';
import type { SuiteResults } from './outcome.ts';
import { renderSummary } from './summary.ts';

const RESULTS: readonly SuiteResults[] = [
  {
    suite: 'lab ipv4',
    against: 'the API server of the tests',
    seconds: 61.4,
    startSeconds: 12.2,
    outcomes: [
      { name: 'Services should serve', seconds: 3.5 },
      { name: 'Services should <wait>', seconds: 60, failure: 'Error: "a1" & b1: not within 60000 ms\u001b\n    at x' },
    ],
  },
];
const NOT_RUN = [{ suite: 'kind', reason: 'kind not on PATH' }];

describe('hack/e2e/junit', () => {
  it('writes a suite for each run and a skipped test for each that did not run, with markup and control characters made harmless', () => {
    expect(renderJunit(RESULTS, NOT_RUN)).to.equal(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ipvs-proxier e2e">
  <testsuite name="lab ipv4" tests="2" failures="1" errors="0" skipped="0" time="61.4">
    <testcase classname="lab ipv4" name="Services should serve" time="3.5"/>
    <testcase classname="lab ipv4" name="Services should &lt;wait&gt;" time="60">
      <failure message="Error: &quot;a1&quot; &amp; b1: not within 60000 ms">Error: &quot;a1&quot; &amp; b1: not within 60000 ms
    at x</failure>
    </testcase>
  </testsuite>
  <testsuite name="kind" tests="1" failures="0" errors="0" skipped="1">
    <testcase classname="kind" name="not run"><skipped message="kind not on PATH"/></testcase>
  </testsuite>
</testsuites>
`);
  });
});

describe('hack/e2e/summary', () => {
  it('names failures and what did not run, and counts neither of them as passed', () => {
    expect(renderSummary(RESULTS, NOT_RUN, 'out/e2e')).to.equal(`
lab ipv4, the API server of the tests: 1 passed, 1 failed in 61 s (12 s to start; slowest: 60 s Services should <wait>; 3.5 s Services should serve)
kind: not run: kind not on PATH

Failures; what each node held then is under out/e2e/:
  lab ipv4  Services should <wait>
      Error: "a1" & b1: not within 60000 ms\u001b

1 passed, 1 failed
`);
  });
});
