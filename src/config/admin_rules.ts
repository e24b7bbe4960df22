import { isObject } from "../core/json/json.ts";
import { parseBoolean } from "./fields.ts";
import { type Problem, problem } from "./problems.ts";
import type { Config, WrittenConfig } from "./schema.ts";
import { isLoopbackName } from "../core/authority.ts";

/** Passwords that are shorter can be guessed over the network. */
const MIN_PASSWORD_CHARS = 12;

/** Returns the problems between the keys of `admin`. Takes the value before defaults. */
export function adminProblems(admin: unknown): Problem[] {
  if (!isObject(admin) || parseBoolean(admin.enabled) !== true) return [];
  const { host, password } = admin;
  if (typeof host !== "string" || isLoopbackName(host) || !isBlank(password)) return [];
  const text = "must not be blank while admin.host is not a loopback address";
  return password === undefined
    ? [problem(["admin", "host"], NEEDS_PASSWORD)]
    : [problem(["admin", "password"], text)];
}

const NEEDS_PASSWORD =
  "requires admin.password, because it is not a loopback address; set it, or use 127.0.0.1";

function isBlank(password: unknown): boolean {
  return password === undefined || (typeof password === "string" && password.trim() === "");
}

/** Returns the settings without a blank password, which is mostly a variable that is not set. */
export function completeAdmin(
  { password, ...rest }: WrittenConfig["admin"],
): WrittenConfig["admin"] {
  return isBlank(password) || password === undefined ? rest : { ...rest, password };
}

/** Returns a warning for each valid setting of `admin` that is likely a mistake. */
export function adminWarnings({ admin, server }: Config): Problem[] {
  const { enabled, port, password } = admin;
  if (!enabled) return [];
  return [
    ...password === undefined || password.length >= MIN_PASSWORD_CHARS ? [] : [
      `has fewer than ${MIN_PASSWORD_CHARS} characters, which can be guessed`,
    ].map((text): Problem => problem(["admin", "password"], text)),
    ...port === 0 || port !== server.port ? [] : [
      "is server.port too; the gateway starts only if the hosts are different addresses",
    ].map((text): Problem => problem(["admin", "port"], text)),
  ];
}
