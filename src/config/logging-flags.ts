import type { Flag } from './flag.ts';

const NO_EFFECT = 'It has no effect.';

export const LOGGING_FLAGS: readonly Flag[] = [
  {
    name: 'v',
    type: 'int',
    kind: 'logging',
    field: 'logging.verbosity',
    default: '0',
    description: 'Log verbosity; higher says more.',
  },
  {
    name: 'logging-format',
    type: 'text',
    kind: 'logging',
    field: 'logging.format',
    default: '',
    description: 'Log format: text or json; unless given, text on a terminal and json elsewhere.',
  },
  {
    name: 'log-flush-frequency',
    type: 'duration',
    kind: 'logging',
    field: 'logging.flushFrequency',
    default: '5s',
    description: `Longest time between log flushes. ${NO_EFFECT}`,
  },
  {
    name: 'log-text-split-stream',
    type: 'bool',
    kind: 'logging',
    field: 'logging.options.text.splitStream',
    default: 'false',
    description: `Errors to stderr, the rest to stdout, in text format. ${NO_EFFECT}`,
  },
  {
    name: 'log-text-info-buffer-size',
    type: 'text',
    kind: 'logging',
    field: 'logging.options.text.infoBufferSize',
    default: '0',
    description: `Buffer of the split text stream. ${NO_EFFECT}`,
  },
  {
    name: 'log-json-split-stream',
    type: 'bool',
    kind: 'logging',
    field: 'logging.options.json.splitStream',
    default: 'false',
    description: `Errors to stderr, the rest to stdout, in JSON format. ${NO_EFFECT}`,
  },
  {
    name: 'log-json-info-buffer-size',
    type: 'text',
    kind: 'logging',
    field: 'logging.options.json.infoBufferSize',
    default: '0',
    description: `Buffer of the split JSON stream. ${NO_EFFECT}`,
  },
  {
    name: 'vmodule',
    type: 'text',
    kind: 'logging',
    default: '',
    description: `Verbosity by source file, pattern=N. ${NO_EFFECT}`,
  },
];

/** Flags of the logging library that old command lines still carry; kube-proxy also spells them with underscores. */
export const KLOG_FLAGS: readonly Flag[] = [
  klog('add-dir-header', 'bool', 'false'),
  klog('alsologtostderr', 'bool', 'false'),
  klog('log-backtrace-at', 'text', ':0'),
  klog('log-dir', 'text', ''),
  klog('log-file', 'text', ''),
  klog('log-file-max-size', 'int', '1800'),
  klog('logtostderr', 'bool', 'true'),
  klog('one-output', 'bool', 'false'),
  klog('skip-headers', 'bool', 'false'),
  klog('skip-log-headers', 'bool', 'false'),
  klog('stderrthreshold', 'text', '2'),
];

function klog(name: string, type: Flag['type'], shown: string): Flag {
  return {
    name,
    type,
    kind: 'logging',
    default: shown,
    description: 'Of an older logging library.',
    deprecated: NO_EFFECT,
  };
}
