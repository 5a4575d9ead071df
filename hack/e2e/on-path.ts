import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Whether a program of this name can be started. */
export function isOnPath(program: string, path = process.env.PATH ?? ''): boolean {
  return path.split(':').some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
