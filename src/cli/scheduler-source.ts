import { parseAllDocuments } from 'yaml';
import type { ConfigFile } from '../config/read-documents.ts';
import type { GivenFlags } from './arguments.ts';

/** Where the scheduler in force is set. Beside a file the flag does not count. The file is known to be right. */
export function schedulerSource(flags: GivenFlags, file: ConfigFile | undefined): string {
  if (!file) return flags['ipvs-scheduler'] === undefined ? DEFAULT : '--ipvs-scheduler';
  const isSet = parseAllDocuments(file.text).some((document) => Boolean(document.getIn(['ipvs', 'scheduler'])));
  return isSet ? `ipvs.scheduler of ${file.name}` : DEFAULT;
}

const DEFAULT = 'the default; none is configured';
