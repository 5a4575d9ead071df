import type { ExitCode } from './exit-code.ts';
import type { RecordForm } from './format-record.ts';
import type { OutputForm } from './output.ts';

/** Configuration flags as given, by name without dashes. */
export type GivenFlags = Readonly<Record<string, unknown>>;

export interface RunArguments {
  readonly flags: GivenFlags;
  readonly mode: 'daemon' | 'dry-run' | 'init-only';
  readonly form: OutputForm;
  /** File that takes what the cluster tells, as a trace. */
  readonly record?: string;
}

/** Where objects come from, and for which node. */
export interface ObjectArguments {
  readonly flags: GivenFlags;
  /** None: the API server is asked. */
  readonly files: readonly string[];
  readonly node: string | undefined;
  /** `eth0=192.168.0.10/24,…`, one text for each time the option was given. */
  readonly nodeAddresses: readonly string[];
}

export interface RenderArguments extends ObjectArguments {
  readonly form: OutputForm;
}

export type DiffArguments = RenderArguments;

export interface ExplainArguments extends ObjectArguments {
  /** A Service, or an address that clients dial. */
  readonly target: string;
  /** `required`: it is an error where this node cannot be read. */
  readonly kernel: 'required' | 'if-possible' | 'no';
  readonly form: RecordForm;
}

/** What is not given has a default, or is taken from the configuration file. */
export interface ReplayArguments {
  /** File, or `-` for standard input; absent when a trace is made up. */
  readonly trace?: string;
  readonly generate?: string;
  /** File that takes the trace that is made up; it is not run then. */
  readonly write?: string;
  readonly config?: string;
  readonly node?: string;
  readonly passMs?: string;
  readonly serviceMs?: string;
  readonly minSyncPeriod?: string;
  readonly syncPeriod?: string;
  readonly form: 'table' | 'json';
}

/** Ways in which a node can have been programmed. */
export const CLEANED_MODES = ['ipvs', 'iptables', 'nftables'] as const;

export type CleanedMode = (typeof CLEANED_MODES)[number];

export interface CleanupArguments {
  readonly flags: GivenFlags;
  /** What is removed, each once. */
  readonly of: readonly CleanedMode[];
  readonly action: 'remove' | 'dry-run';
}

export interface DoctorArguments {
  readonly flags: GivenFlags;
  readonly form: RecordForm;
}

export interface StatusArguments {
  /** `config` and `metrics-bind-address`, which say where the daemon listens. */
  readonly flags: GivenFlags;
  /** `namespace/name` of the only one that is told of in detail. */
  readonly service?: string;
  readonly form: RecordForm;
}

/** What the commands do once their arguments are understood. `version` is the one that they report. */
export interface Commands {
  readonly run: (args: RunArguments, version: string) => Promise<ExitCode>;
  /** Writes the configuration in force to a file. */
  readonly writeConfig: (flags: GivenFlags, path: string) => Promise<ExitCode>;
  readonly render: (args: RenderArguments) => Promise<ExitCode>;
  readonly diff: (args: DiffArguments) => Promise<ExitCode>;
  readonly explain: (args: ExplainArguments) => Promise<ExitCode>;
  readonly replay: (args: ReplayArguments) => Promise<ExitCode>;
  readonly cleanup: (args: CleanupArguments, version: string) => Promise<ExitCode>;
  readonly doctor: (args: DoctorArguments) => Promise<ExitCode>;
  readonly status: (args: StatusArguments) => Promise<ExitCode>;
}
