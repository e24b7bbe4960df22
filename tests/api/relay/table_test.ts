import { RELAYED } from "../../../src/api/relay/table.ts";
import { RELAY_FAMILIES, ROUTED_PATHS } from "../../../src/core/endpoint.ts";
import { assert, assertEquals } from "../../support/assert.ts";

Deno.test("the request type of a relayed endpoint is its path, and each one has its line in the table", () => {
  const paths = Object.values(ROUTED_PATHS).filter((path) => Object.hasOwn(ROUTED_PATHS, path));
  const routed = RELAYED.filter(({ kind }) => kind === "routed").map(({ path }) => path);
  assertEquals(new Set<string>(routed), new Set<string>(paths));
});

Deno.test("every capability has an endpoint, and every method and path one line", () => {
  assertEquals(new Set(RELAYED.map(({ family }) => family)), new Set(RELAY_FAMILIES));
  const lines = RELAYED.map((one) => `${one.kind === "owned" ? one.method : "POST"} ${one.path}`);
  assertEquals(new Set(lines).size, lines.length);
});

Deno.test("an operation that lists or retrieves is a GET, and only such a one", () => {
  for (const one of RELAYED) {
    if (one.kind !== "owned") continue;
    const isRead = one.does === "list" || one.does === "retrieve";
    assert(isRead === (one.method === "GET"), one.path);
  }
});
