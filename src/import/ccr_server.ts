import { LISTEN_HOST } from "../config/fields.ts";
import { formatDuration } from "../config/units.ts";
import type { Draft } from "./draft.ts";
import { memberOf, numberOf, textOf, type Tree, truthOf } from "./source.ts";

/** The port of claude-code-router if its file names none. */
const ROUTER_PORT = 3_456;

const LEVELS: Readonly<Record<string, string>> = {
  fatal: "error",
  error: "error",
  warn: "warn",
  info: "info",
  debug: "debug",
  trace: "debug",
};

/** Reads the listener, the key and the log; returns the timeout of all providers. */
export function readServer(root: Tree, { report, variables, set }: Draft): string | null {
  const get = (key: string) => memberOf(root, key);
  const key = textOf(get("APIKEY"));
  const isKey = key !== null && /^[\x21-\x7e]+$/.test(key);
  const host = textOf(get("HOST"));
  const isLocal = host === null || /^(?:127\.|localhost$|::1$)/.test(host);
  if (host !== null && isKey && LISTEN_HOST.test(host)) {
    set("server", "host", host, "HOST");
    report.carried(get("HOST"), "server.host");
  } else {
    const note = isLocal ? "" : "without APIKEY only this machine is served, as there";
    report.noted(get("HOST"), [], note);
  }
  const port = numberOf(get("PORT"));
  const isPort = port !== null && Number.isSafeInteger(port) && port > 0 && port < 65_536;
  set(
    "server",
    "port",
    isPort ? port : ROUTER_PORT,
    isPort ? "PORT" : "the port of claude-code-router",
  );
  if (isPort) report.carried(get("PORT"), "server.port");
  if (isKey) {
    set("security", "enabled", true, "APIKEY");
    const { member, text, note } = variables.clientKey(key);
    set("security", "api_key", { keys: [{ name: "ccr", [member]: text }] }, "APIKEY");
    report.carried(get("APIKEY"), `security.api_key.keys[0].${member}`, note);
  } else if (get("APIKEY")?.kind === "leaf" && key === null) {
    report.noMeaning(get("APIKEY"), "empty: no key is required");
  }
  const written = textOf(get("LOG_LEVEL")) ?? "";
  const level = Object.hasOwn(LEVELS, written) ? LEVELS[written] : undefined;
  if (level !== undefined) {
    set("logging", "level", level, "LOG_LEVEL");
    report.differently(get("LOG_LEVEL"), "logging.level", "lines on standard error");
  }
  if (truthOf(get("LOG")) !== null) {
    report.differently(get("LOG"), "logging", "lines on standard error");
  }
  const time = numberOf(get("API_TIMEOUT_MS"));
  const isTime = time !== null && time >= 1;
  if (isTime) report.carried(get("API_TIMEOUT_MS"), "providers.*.timeout");
  report.notRead(root, ["PORT", "LOG", "LOG_LEVEL", "API_TIMEOUT_MS"]);
  return isTime ? formatDuration(Math.round(time)) : null;
}
