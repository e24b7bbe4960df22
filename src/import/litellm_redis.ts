import type { Draft } from "./draft.ts";
import { memberOf, textOf, type Tree } from "./source.ts";

/**
 * Reads the address of a Redis server, at which state and limits are then shared. Names of its
 * members begin with `prefix`.
 */
export function readRedis(
  tree: Tree | undefined,
  draft: Draft,
  prefix: string,
): boolean {
  const { report, variables } = draft;
  const get = (key: string) => memberOf(tree, `${prefix}${key}`);
  const host = textOf(get("host"));
  const url = textOf(get("url"));
  const where = ["state.store", "state.valkey.url"];
  const note = "responses, conversations and limits are at the server too";
  if (host === null) {
    report.missing(
      get("url"),
      url === null
        ? ""
        : "an address with a password in it: set state.store: valkey, with state.valkey.url",
    );
    return false;
  }
  const port = textOf(get("port")) ?? "6379";
  const number = textOf(get("db")) ?? "0";
  const address = `redis://${variables.text(host, "127.0.0.1")}:${variables.text(port, "6379")}/${
    variables.text(number, "0")
  }`;
  const server = URL.parse(address.replace(/\$\{[^}]*\}/g, "0"));
  if (server === null || server.hostname === "" || !/^\/\d+$/.test(server.pathname)) {
    for (const key of ["host", "port", "db", "password"]) {
      report.missing(get(key), "no host, port and number of a database");
    }
    return false;
  }
  const password = textOf(get("password"));
  const secret = password === null ? null : variables.secret(password, "REDIS_PASSWORD");
  const valkey = { url: address, ...secret?.text != null && { password: secret.text } };
  const from = tree?.path ?? "";
  draft.set("state", "store", "valkey", from);
  draft.set("state", "valkey", valkey, from);
  for (const key of ["host", "port", "db"]) {
    report.differently(get(key), where, note);
  }
  report.noted(get("password"), "state.valkey.password", secret?.note ?? "");
  return true;
}
