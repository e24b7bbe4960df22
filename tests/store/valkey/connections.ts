import { newForceShutdown } from "../../../src/runtime/force_shutdown.ts";
import { newLinkReport } from "../../../src/store/valkey/link_report.ts";
import {
  newValkeyConnection,
  type ValkeyConnection,
} from "../../../src/store/valkey/connection.ts";
import type { ValkeySettings } from "../../../src/store/settings.ts";
import type { StoreLog } from "../../../src/store/store_dependencies.ts";

/** Silence of a server, in milliseconds, that also a busy machine does not reach. */
export const PATIENT_TIMEOUT_MS = 20_000;

/** Settings of a store at this URL, with the defaults of the configuration. */
export function valkeySettings(url: string, changes: Partial<ValkeySettings> = {}): ValkeySettings {
  return { url, prefix: "switchyard", sentinels: [], cluster: false, timeout: 500, ...changes };
}

/** A log whose lines a test reads. */
export interface RecordedLog extends StoreLog {
  readonly lines: readonly string[];
}

/** Returns a log without lines. */
export function recordedLog(): RecordedLog {
  const lines: string[] = [];
  return {
    lines,
    warn: (message) => void lines.push(`warn: ${message}`),
    error: (message) => void lines.push(`error: ${message}`),
  };
}

/** Returns a connection that is not made yet, with its log. */
export async function newTestConnection(
  settings: ValkeySettings,
): Promise<{ readonly connection: ValkeyConnection; readonly log: RecordedLog }> {
  const log = recordedLog();
  const report = newLinkReport("the server", log, () => performance.now());
  const link = {
    valkey: settings,
    silenceMs: settings.timeout,
    ca: null,
    forceShutdown: newForceShutdown(),
    random: Math.random,
  };
  return { connection: await newValkeyConnection("values", link, report), log };
}

/** Returns a connection to a server that is made. */
export async function connect(url: string): Promise<ValkeyConnection> {
  const { connection } = await newTestConnection(
    valkeySettings(url, { timeout: PATIENT_TIMEOUT_MS }),
  );
  await connection.open(PATIENT_TIMEOUT_MS);
  return connection;
}
