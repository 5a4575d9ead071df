import type { PlanPart } from '../plan/plan-sync.ts';
import type { ScriptTool } from '../plan/scripts.ts';
import type { PassReport } from './proxier.ts';

/**
 * Counts steps that undid what somebody else had changed: those of passes that ran for no other reason than that their time had come or that something of ours was seen to be gone,
 * after one that succeeded, and without a change of a Service. The removal of what has drained, and of addresses that have stayed long enough, is no repair.
 */
export class Repairs {
  readonly #byTool: Record<ScriptTool, number> = { ipvs: 0, ipset: 0, address: 0, iptables: 0, ip6tables: 0 };
  #lastSucceeded = false;
  #wasDraining = false;
  #wasClosing = false;

  ran({ reasons, families, errors }: PassReport): void {
    const isPlain = reasons.length > 0 && reasons.every((reason) => reason === 'periodic' || reason === 'drift');
    const isQuiet = families.every(({ changedServices }) => changedServices === 0);
    if (isPlain && isQuiet && this.#lastSucceeded && errors.length === 0) {
      for (const { plan } of families) for (const part of plan?.parts ?? []) this.#count(part);
    }
    this.#lastSucceeded = errors.length === 0;
    this.#wasDraining = families.some(({ draining }) => draining > 0);
    this.#wasClosing = families.some(({ closing }) => closing > 0);
  }

  read(): Readonly<Record<ScriptTool, number>> {
    return { ...this.#byTool };
  }

  #count(part: PlanPart): void {
    if (part.tool === 'iptables') {
      this.#byTool[part.family === 'IPv4' ? 'iptables' : 'ip6tables'] += part.changes.length;
    } else if (part.tool === 'ipvs') {
      const drained = (kind: string) => this.#wasDraining && kind === 'delete-real-server';
      this.#byTool.ipvs += part.steps.filter(({ kind }) => !drained(kind)).length;
    } else {
      const closed = (kind: string) => this.#wasClosing && (kind === 'unbind-address' || kind === 'delete-entry');
      this.#byTool[part.tool] += part.steps.filter(({ kind }) => !closed(kind)).length;
    }
  }
}
