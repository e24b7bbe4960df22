import type { Draft } from "./draft.ts";
import type { Written } from "./written_file.ts";
import { memberOf, textOf, type Tree, truthOf } from "./source.ts";

/** Members with the address of a Redis server and what it asks for. */
const MEMBERS = ["host", "port", "db", "ssl", "username", "password"] as const;

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
        : "may have a password in it: set state.store: valkey, with state.valkey.url and password",
    );
    return false;
  }
  const port = textOf(get("port")) ?? "6379";
  const number = textOf(get("db")) ?? "0";
  const isEncrypted = truthOf(get("ssl"));
  const scheme = isEncrypted === true ? "rediss" : "redis";
  const address = `${scheme}://${variables.text(host, "127.0.0.1")}:${
    variables.text(port, "6379")
  }/${variables.text(number, "0")}`;
  const server = URL.parse(address.replace(/\$\{[^}]*\}/g, "0"));
  if (server === null || server.hostname === "" || !/^\/\d+$/.test(server.pathname)) {
    for (const key of MEMBERS) {
      report.missing(get(key), "no host, port and number of a database");
    }
    return false;
  }
  const user = textOf(get("username"));
  const password = textOf(get("password"));
  const secret = password === null ? null : variables.secret(password, "REDIS_PASSWORD");
  const valkey = {
    url: address,
    ...user !== null && { username: variables.text(user) },
    ...secret?.text != null && { password: secret.text },
  };
  const from = tree?.path ?? "";
  const [before] = draft.sections(["state"]);
  if (before !== undefined && JSON.stringify(before.value) !== JSON.stringify(stateAt(valkey))) {
    for (const key of MEMBERS) report.missing(get(key), "another server of the file counts");
    return true;
  }
  for (const [key, value] of Object.entries(stateAt(valkey))) draft.set("state", key, value, from);
  for (const key of ["host", "port", "db"]) {
    report.differently(get(key), where, note);
  }
  if (isEncrypted !== null) report.carried(get("ssl"), "state.valkey.url");
  report.notRead(
    tree,
    [user === null ? "username" : "", secret === null ? "password" : ""].map(
      (key) => prefix + key,
    ),
  );
  report.carried(get("username"), "state.valkey.username");
  report.noted(get("password"), "state.valkey.password", secret?.note ?? "");
  return true;
}

function stateAt(valkey: Written): Readonly<Record<string, Written>> {
  return { store: "valkey", valkey };
}
