/** 0 done, 1 failed, 2 usage or configuration error, 3 a comparison found something. */
export type ExitCode = 0 | 1 | 2 | 3;
