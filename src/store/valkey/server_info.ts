import type { StoreLog } from "../store_dependencies.ts";
import type { ValkeyConnection } from "./connection.ts";
import { textOf } from "./reply.ts";

/** Facts that a server reports. */
export interface ServerInfo {
  /** Name and version, such as `Valkey 8.0.1`. */
  readonly version: string;
  /** Which keys it removes when its memory is full, such as `noeviction`; null if unknown. */
  readonly evictionPolicy: string | null;
}

/** Returns what the server says of itself; null if it does not answer or the user may not ask. */
export async function readServerInfo(connection: ValkeyConnection): Promise<ServerInfo | null> {
  const reply = await connection.send("INFO", []);
  const text = reply.kind === "reply" ? textOf(reply.value) : null;
  return text === null ? null : parseServerInfo(text);
}

/** Parses the reply of the command `INFO`. */
export function parseServerInfo(text: string): ServerInfo {
  const fields = new Map(
    text.split("\r\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1)];
    }),
  );
  const valkey = fields.get("valkey_version");
  return {
    version: valkey === undefined
      ? `Redis ${fields.get("redis_version") ?? ""}`.trim()
      : `Valkey ${valkey}`,
    evictionPolicy: fields.get("maxmemory_policy") ?? null,
  };
}

/** Warns of a server that may remove records before their lifetime is over. */
export function warnOfEviction({ evictionPolicy }: ServerInfo, log: StoreLog): void {
  if (evictionPolicy?.startsWith("allkeys-") !== true) return;
  log.warn(
    `The state store has the maxmemory-policy ${evictionPolicy}: when its memory is full it removes ` +
      "responses, conversations and rates in use; set noeviction or volatile-ttl at the server.",
  );
}
