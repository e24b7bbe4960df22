import type { StoreLog } from "../store_dependencies.ts";

/** Log lines about the connections to a server: one for each change of state, none for a retry. */
export interface LinkReport {
  /** The connection `name` can be used. */
  connected(name: string): void;
  /** The connection `name` cannot be used, or could not be made; `reason` is in our own words. */
  failed(name: string, reason: string): void;
  /** The server has refused a command of a connection that can be used. */
  refused(reason: string): void;
  /** The current problem as a sentence. */
  problem(): string | null;
}

/** Interval in milliseconds in which the same refusal is logged once. */
const REFUSAL_INTERVAL_MS = 60_000;

/** Returns a report of connections that do not exist yet. `now` returns milliseconds. */
export function newLinkReport(server: string, log: StoreLog, now: () => number): LinkReport {
  const failing = new Map<string, string>();
  const refusals = new Map<string, number>();
  let logged: string | null = null;

  function sentence(reason: string): string {
    return `The state store at ${server} is not available: ${reason}.`;
  }

  return {
    connected(name) {
      failing.delete(name);
      if (failing.size > 0 || logged === null) return;
      logged = null;
      log.warn(`The state store at ${server} is available again.`);
    },
    failed(name, reason) {
      failing.set(name, reason);
      if (logged === reason) return;
      logged = reason;
      log.error(sentence(reason));
    },
    refused(reason) {
      const before = refusals.get(reason);
      if (before !== undefined && now() - before < REFUSAL_INTERVAL_MS) return;
      refusals.set(reason, now());
      log.error(`The state store at ${server} has refused a command: ${reason}.`);
    },
    problem() {
      const [reason] = failing.values();
      return reason === undefined ? null : sentence(reason);
    },
  };
}
