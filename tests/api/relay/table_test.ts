import { findOwnedFamily, RELAYED } from "../../../src/api/relay/table.ts";
import { relayedGateway } from "./relayed_gateway.ts";
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

Deno.test("a path whose ID is empty is no path of an object, for explain as for the gateway", async () => {
  assertEquals(findOwnedFamily("/v1/files/file-1"), "files");
  assertEquals(findOwnedFamily("/v1/files/file-1/content"), "files");
  const { app, sent } = relayedGateway(() => ({}));
  for (const path of ["/v1/files/", "/v1/files//content", "/v1/batches//cancel"]) {
    assertEquals(findOwnedFamily(path), null, path);
    const method = path.endsWith("cancel") ? "POST" : "GET";
    const refused = await app(new Request(`http://gateway${path}`, { method }));
    const { error } = await refused.json();
    assertEquals([refused.status, error.code], [404, "unknown_url"], path);
  }
  assertEquals(sent, []);
});
