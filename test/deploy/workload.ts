import { z } from 'zod';
import type { Manifest } from './kustomize.ts';

/** Fields that our DaemonSets use, with the types that the API has; any other field is an error. */
const labels = z.record(z.string(), z.string());
const port = z.union([z.int().min(1).max(65535), z.string()]);
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port }),
  periodSeconds: z.int().optional(),
  timeoutSeconds: z.int().optional(),
  failureThreshold: z.int().optional(),
});
const environment = z.strictObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.strictObject({ fieldRef: z.strictObject({ fieldPath: z.string() }) }).optional(),
});
const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
  args: z.array(z.string()),
  env: z.array(environment),
  envFrom: z.array(z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) })).default([]),
  ports: z
    .array(z.strictObject({ name: z.string(), containerPort: z.int(), protocol: z.enum(['TCP', 'UDP', 'SCTP']) }))
    .default([]),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  securityContext: z.strictObject({
    privileged: z.boolean(),
    allowPrivilegeEscalation: z.boolean().optional(),
    readOnlyRootFilesystem: z.boolean(),
    runAsUser: z.int().optional(),
    capabilities: z.strictObject({ add: z.array(z.string()), drop: z.array(z.string()) }).optional(),
    seLinuxOptions: z.strictObject({ type: z.string() }).optional(),
    seccompProfile: z.strictObject({ type: z.enum(['RuntimeDefault', 'Unconfined', 'Localhost']) }).optional(),
  }),
  resources: z.strictObject({ requests: labels.optional(), limits: labels.optional() }),
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string().startsWith('/'), readOnly: z.boolean().optional() }),
  ),
});
const volume = z.strictObject({
  name: z.string(),
  configMap: z.strictObject({ name: z.string() }).optional(),
  hostPath: z
    .strictObject({ path: z.string().startsWith('/'), type: z.enum(['FileOrCreate', 'Directory']).optional() })
    .optional(),
});
const daemonSet = z.strictObject({
  selector: z.strictObject({ matchLabels: labels }),
  updateStrategy: z.strictObject({
    type: z.enum(['RollingUpdate', 'OnDelete']),
    rollingUpdate: z.strictObject({
      maxSurge: z.union([z.int(), z.string()]),
      maxUnavailable: z.union([z.int(), z.string()]),
    }),
  }),
  template: z.strictObject({
    metadata: z.strictObject({ labels, annotations: labels.optional() }),
    spec: z.strictObject({
      serviceAccountName: z.string(),
      hostNetwork: z.boolean(),
      dnsPolicy: z.enum(['Default', 'ClusterFirst', 'ClusterFirstWithHostNet', 'None']),
      priorityClassName: z.string(),
      terminationGracePeriodSeconds: z.int(),
      nodeSelector: labels,
      affinity: z.unknown().optional(),
      tolerations: z.array(z.strictObject({ operator: z.enum(['Exists', 'Equal']) })),
      initContainers: z.array(container),
      containers: z.array(container),
      volumes: z.array(volume),
    }),
  }),
});

export type Workload = z.infer<typeof daemonSet>;
export type Container = z.infer<typeof container>;

/** Throws with every field that is wrong. */
export function readDaemonSet({ apiVersion, kind, spec }: Manifest): Workload {
  if (`${apiVersion} ${kind}` !== 'apps/v1 DaemonSet') throw new Error(`${apiVersion} ${kind} is no DaemonSet`);
  return daemonSet.parse(spec);
}

export function containersOf({ template }: Workload): readonly Container[] {
  return [...template.spec.initContainers, ...template.spec.containers];
}
