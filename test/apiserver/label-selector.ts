import { type Result, succeed } from '../../src/model/result.ts';
import { refuse, type Status } from './status.ts';

/** Whether labels are chosen by a selector. */
export type LabelMatch = (labels: Readonly<Record<string, string>>) => boolean;

/**
 * Reads `a=b`, `a==b`, `a!=b`, `a`, `!a`, `a in (x,y)` and `a notin (x,y)`, joined by commas; `''` chooses everything.
 * As in Kubernetes, `!=` and `notin` also choose objects without the label.
 * Source: k8s.io/apimachinery pkg/labels/selector.go
 */
export function parseLabelSelector(text: string): Result<LabelMatch, Status> {
  const requirements: LabelMatch[] = [];
  for (const part of text.split(/,(?![^(]*\))/)) {
    if (part.trim() === '') continue;
    const requirement = parseRequirement(part.trim());
    if (requirement === undefined) return refuse(400, `unable to parse requirement: ${part.trim()}`);
    requirements.push(requirement);
  }
  return succeed((labels) => requirements.every((matches) => matches(labels)));
}

function parseRequirement(text: string): LabelMatch | undefined {
  const [, setKey, operator, list] = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(text) ?? [];
  if (setKey !== undefined && list !== undefined) {
    const values = list.split(',').map((value) => value.trim());
    const isMember = (value: string | undefined) => value !== undefined && values.includes(value);
    return operator === 'in' ? (labels) => isMember(labels[setKey]) : (labels) => !isMember(labels[setKey]);
  }
  const [, key, sign, value] = /^([^\s!=]+)\s*(==|=|!=)\s*([^\s!=]*)$/.exec(text) ?? [];
  if (key !== undefined) return sign === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  const [, not, present] = /^(!?)\s*([^\s!=(),]+)$/.exec(text) ?? [];
  if (present === undefined) return undefined;
  return not === '!' ? (labels) => !(present in labels) : (labels) => present in labels;
}
