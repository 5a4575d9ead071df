import type { Flag } from './flag.ts';
import { KLOG_FLAGS, LOGGING_FLAGS } from './logging-flags.ts';
import { IPVS_FLAGS, SETTING_FLAGS } from './setting-flags.ts';

const PROCESS_FLAGS: readonly Flag[] = [
  {
    name: 'config',
    type: 'text',
    kind: 'process',
    default: '',
    description: 'Path of the configuration file; it replaces all flags for settings.',
  },
  {
    name: 'write-config-to',
    type: 'text',
    kind: 'process',
    default: '',
    description: 'Write the effective configuration to this file and exit.',
  },
  {
    name: 'cleanup',
    type: 'bool',
    kind: 'process',
    default: 'false',
    description: 'Remove what this program made on the node and exit.',
  },
  {
    name: 'init-only',
    type: 'bool',
    kind: 'process',
    default: 'false',
    description: 'Do what needs full privileges at start, then exit.',
  },
  {
    name: 'version',
    type: 'version',
    kind: 'process',
    default: 'false',
    description: 'Print the version and exit; raw prints all of it, vX.Y.Z is reported as the version instead.',
  },
];

const OVERRIDE_FLAGS: readonly Flag[] = [
  {
    name: 'hostname-override',
    type: 'text',
    kind: 'override',
    field: 'hostnameOverride',
    default: '',
    description: 'Name of the Node this process runs on, instead of the host name.',
  },
  {
    name: 'master',
    type: 'text',
    kind: 'override',
    default: '',
    description: "URL of the API server, instead of the kubeconfig's.",
  },
  {
    name: 'behaviour',
    type: 'text',
    kind: 'override',
    field: 'behaviour',
    default: 'documented',
    description: 'Follow the documented API, or "kube-proxy" where its ipvs mode departs from that.',
  },
];

/** Every flag that kube-proxy takes on Linux, and our own. Source: kubernetes/kubernetes cmd/kube-proxy/app/options.go */
export const FLAGS: readonly Flag[] = [
  ...PROCESS_FLAGS,
  ...OVERRIDE_FLAGS,
  ...IPVS_FLAGS,
  ...SETTING_FLAGS,
  ...LOGGING_FLAGS,
  ...KLOG_FLAGS,
];
