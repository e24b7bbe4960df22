import { formatDuration } from "../config/units.ts";
import type { StateSettings } from "../store/settings.ts";
import type { StateInfo } from "../store/state_info.ts";
import { columns } from "./help.ts";

const DEFAULT_PORT = 6379;

/**
 * Returns where a state store is: the path of a file, or a server with its prefix; no credentials.
 */
export function placeText({ store, sqlite, valkey }: StateSettings): string {
  if (store !== "valkey") return sqlite.path;
  const { hostname = "", port = "", pathname = "" } = URL.parse(valkey.url) ?? {};
  const server = valkey.sentinels.length > 0
    ? `${valkey.master ?? ""} of ${valkey.sentinels.join(", ")}`
    : `${hostname}:${port === "" ? DEFAULT_PORT : port}`;
  const database = pathname.replace("/", "") || "0";
  return `${server}, database ${database}, prefix ${valkey.prefix}`;
}

/**
 * Returns the report of a state store: its place, its size by type, and the ages of its records.
 */
export function infoText(settings: StateSettings, info: StateInfo): string {
  const { types, oldestMs, newestMs } = info;
  const facts = [
    ["Store", settings.store],
    ["Place", placeText(settings)],
    ["Version", info.version],
    ["Encryption", encryptionText(settings.encryption_keys.length)],
    ...oldestMs === null || newestMs === null
      ? []
      : [["Oldest record", ageText(oldestMs)], ["Newest record", ageText(newestMs)]],
  ];
  const sizes = types.map(({ type, entries, bytes }) => [type, sizeText(entries, bytes)]);
  return [
    ...columns(facts).map((line) => line.slice(2)),
    "",
    ...sizes.length === 0 ? ["No records."] : ["Records:", ...columns(sizes)],
    "",
  ].join("\n");
}

function encryptionText(keys: number): string {
  if (keys === 0) return "none";
  return keys === 1 ? "1 key" : `${keys} keys; the first one encrypts`;
}

function ageText(ms: number): string {
  return `${formatDuration(Math.floor(ms / 1000) * 1000)} old`;
}

function sizeText(entries: number, bytes: number): string {
  return `${entries} entries, ${bytes} bytes`;
}
