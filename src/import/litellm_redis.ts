import type { Draft } from "./draft.ts";
import { memberOf, textOf, type Tree } from "./source.ts";

/** Reads the address of a Redis server, at which state and limits are then shared. */
export function readRedis(
  tree: Tree | undefined,
  draft: Draft,
  [hostKey = "", portKey = "", passwordKey = "", urlKey = "", numberKey = ""]: readonly string[],
): boolean {
  const { report, variables } = draft;
  const host = textOf(memberOf(tree, hostKey));
  const url = textOf(memberOf(tree, urlKey));
  const where = ["state.store", "state.valkey.url"];
  const note = "responses, conversations and limits are at the server too";
  if (host === null) {
    report.missing(
      memberOf(tree, urlKey),
      url === null
        ? ""
        : "an address with a password in it: set state.store: valkey, with state.valkey.url",
    );
    return false;
  }
  const port = textOf(memberOf(tree, portKey)) ?? "6379";
  const number = textOf(memberOf(tree, numberKey)) ?? "0";
  const password = textOf(memberOf(tree, passwordKey));
  const secret = password === null ? null : variables.secret(password, "REDIS_PASSWORD");
  const address = `redis://${variables.text(host, "127.0.0.1")}:${variables.text(port, "6379")}/${
    variables.text(number, "0")
  }`;
  const valkey = { url: address, ...secret?.text != null && { password: secret.text } };
  const from = tree?.path ?? "";
  draft.set("state", "store", "valkey", from);
  draft.set("state", "valkey", valkey, from);
  for (const key of [hostKey, portKey, numberKey]) {
    report.differently(memberOf(tree, key), where, note);
  }
  report.noted(memberOf(tree, passwordKey), "state.valkey.password", secret?.note ?? "");
  return true;
}
