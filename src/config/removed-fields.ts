import { getField, type RawConfig, withoutField } from './raw-config.ts';

/** Fields of old kube-proxy releases that still stand in files; kube-proxy drops them with a line in its log. */
const REMOVED_FIELDS = ['conntrack.max', 'udpIdleTimeout', 'resourceContainer'];

/** The file without them, and one sentence for each that was there. */
export function withoutRemovedFields(raw: RawConfig): { readonly raw: RawConfig; readonly notices: readonly string[] } {
  const found = REMOVED_FIELDS.filter((field) => getField(raw, field.split('.')) !== undefined);
  return {
    raw: found.reduce((rest, field) => withoutField(rest, field.split('.')), raw),
    notices: found.map((field) => `field ${field} was removed from kube-proxy and has no effect`),
  };
}
