import { X509Certificate } from "node:crypto";
import { success } from "../../core/failure/result.ts";
import { newForceShutdown } from "../../runtime/force_shutdown.ts";
import { NO_TURNS } from "../../traffic/loop_turns.ts";
import type { StoreDependencies } from "../store_dependencies.ts";
import { newSharedQuotas } from "../quotas/shared_quotas.ts";
import { newTextContent } from "../objects/content_codec.ts";
import { newObjects } from "../objects/new_objects.ts";
import { recordBounds } from "../records/bounds.ts";
import { retentionOf } from "../retention.ts";
import type { StateSettings, ValkeySettings } from "../settings.ts";
import type { OpenedStore, StateStore } from "../state_store.ts";
import { parseServerAddress, serverName } from "./address.ts";
import { newValkeyConnection, type ValkeyConnection } from "./connection.ts";
import { keyStart, recordStart } from "./keys.ts";
import { newLinkReport } from "./link_report.ts";
import { newValkeyQuotas } from "./quotas.ts";
import { newValkeyRecordStore } from "./record_store.ts";
import { replyResult } from "./script.ts";
import { readServerInfo, warnOfEviction } from "./server_info.ts";
import { newValkeyUsage } from "./usage.ts";
import { newValkeyInfo } from "./store_info.ts";

/**
 * Shortest silence in milliseconds after which a command with content fails: a large one is silent
 * until its reply.
 */
const MIN_VALUE_SILENCE_MS = 2_000;

/**
 * Returns the silence in milliseconds after which a command with content fails, for a configured
 * timeout.
 */
export function valueSilenceMs(timeoutMs: number): number {
  return Math.max(timeoutMs, MIN_VALUE_SILENCE_MS);
}

/** Longest wait for the first connection, in milliseconds. */
const FIRST_WAIT_MS = 3_000;

/**
 * Opens the store in the server `state.valkey`. Without `state.required` it is opened also if the
 * server does not answer; connections are attempted until it does.
 */
export async function openValkeyStore(
  settings: StateSettings,
  dependencies: StoreDependencies,
): Promise<OpenedStore> {
  const { valkey, required } = settings;
  const { world, log } = dependencies;
  if (parseServerAddress(valkey.url) === null) {
    return refused(
      "state.valkey.url must be the address of a server, such as valkey://HOST:6379/0",
    );
  }
  const authority = await readAuthority(valkey);
  if (!authority.ok) return refused(authority.problem);
  // A start that fails has one line, which is its problem.
  let isSilent = required;
  const report = newLinkReport(serverName(valkey), {
    warn: (message) => isSilent || log.warn(message),
    error: (message) => isSilent || log.error(message),
  }, () => world.now());
  const forceShutdown = newForceShutdown();
  const connect = (name: string, silenceMs: number) => {
    const random = () => world.random();
    const link = { valkey, silenceMs, ca: authority.certificates, forceShutdown, random };
    return newValkeyConnection(name, link, report);
  };
  // Two, so that no admission waits behind a large response.
  const quotas = await connect("quotas", valkey.timeout);
  const values = await connect("values", valueSilenceMs(valkey.timeout));
  const connections: Connections = {
    quotas,
    values,
    async close() {
      await Promise.all([quotas.close(), values.close()]);
      forceShutdown.close();
    },
  };
  const isOpen = await Promise.all(
    [quotas, values].map((connection) => connection.open(FIRST_WAIT_MS)),
  );
  if (required && isOpen.includes(false)) {
    await connections.close();
    return refused(
      `state.required: ${report.problem() ?? `${serverName(valkey)} does not answer in time`}`,
    );
  }
  isSilent = false;
  await warnOfPolicy(values, dependencies);
  return { ok: true, store: newStore(settings, connections, dependencies) };
}

function refused(problem: string): OpenedStore {
  return { ok: false, problem };
}

type Authority =
  | { readonly ok: true; readonly certificates: string | null }
  | { readonly ok: false; readonly problem: string };

/** Reads the certificates that the server's certificate is checked with. */
async function readAuthority({ ca_file }: ValkeySettings): Promise<Authority> {
  if (ca_file === undefined) return { ok: true, certificates: null };
  try {
    const certificates = await Deno.readTextFile(ca_file);
    return isCertificate(certificates)
      ? { ok: true, certificates }
      : { ok: false, problem: `state.valkey.ca_file: ${ca_file} has no certificate in PEM format` };
  } catch {
    return { ok: false, problem: `state.valkey.ca_file: ${ca_file} cannot be read` };
  }
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}

/** Warns of a server that evicts live records, also when another server answers later. */
async function warnOfPolicy(values: ValkeyConnection, { log }: StoreDependencies): Promise<void> {
  let warned: string | null = null;

  async function check(): Promise<void> {
    const info = await readServerInfo(values);
    if (info === null || info.evictionPolicy === warned) return;
    warned = info.evictionPolicy;
    warnOfEviction(info, log);
  }

  values.onReady(() => void check());
  await check();
}

interface Connections {
  readonly values: ValkeyConnection;
  readonly quotas: ValkeyConnection;
  close(): Promise<void>;
}

function newStore(
  settings: StateSettings,
  { values, quotas, close }: Connections,
  { world, codec, turns = NO_TURNS, onQuotaFallback }: StoreDependencies,
): StateStore {
  const { prefix } = settings.valkey;
  const retention = retentionOf(settings);
  const bounds = recordBounds(retention);
  const records = newValkeyRecordStore(values, recordStart(prefix), bounds);
  const sharedQuotas = newSharedQuotas(newValkeyQuotas(quotas, prefix, world), {
    world,
    onOutage: settings.on_outage,
    onFallback: (operation) => onQuotaFallback?.(operation),
  });
  const info = newValkeyInfo(values, prefix);
  return {
    name: "valkey",
    ...newObjects(records, newTextContent(codec, world), bounds, retention, turns),
    quotas: sharedQuotas,
    usage: newValkeyUsage(values, prefix),
    async ping(doesWrite = false) {
      const reply = replyResult(await values.ping(keyStart(prefix), doesWrite));
      return reply.ok ? success(undefined) : reply;
    },
    stats: info.read,
    purge: info.purge,
    async close() {
      await sharedQuotas.close();
      await close();
    },
  };
}
