import { stringify } from 'yaml';

/** Forms of what a command tells of the node: for people, or for programs. */
export const RECORD_FORMS = ['text', 'json', 'yaml'] as const;
export type RecordForm = (typeof RECORD_FORMS)[number];

/** A record in a form for programs, indented, with a line feed at its end. */
export function formatRecord(record: unknown, form: Exclude<RecordForm, 'text'>): string {
  if (form === 'json') return `${JSON.stringify(record, undefined, 2)}\n`;
  return stringify(record, { lineWidth: 0, aliasDuplicateObjects: false });
}
