import layers from "../../../scripts/tools/layers.ts";
import { assertEquals } from "../../support/assert.ts";

const ROOT = new URL("../../../", import.meta.url);

function complaints(file: string, source: string): string[] {
  const path = decodeURIComponent(new URL(file, ROOT).pathname);
  return Deno.lint.runPlugin(layers, path, source).map((found) => found.message);
}

function importing(file: string, specifier: string): string[] {
  return complaints(file, `import { thing } from "${specifier}";`);
}

Deno.test("a folder may import itself and what its line of the table names", () => {
  assertEquals(importing("src/core/stream/reply.ts", "../json/json.ts"), []);
  assertEquals(importing("src/gateway/compile.ts", "../config/schema.ts"), []);
  assertEquals(importing("src/api/chat/chat.ts", "../../exchange.ts"), []);
  assertEquals(importing("src/exchange.ts", "./routing/choose.ts"), []);
  assertEquals(importing("src/observe/log.ts", "../config/schema.ts"), []);
  assertEquals(importing("src/server/app.ts", "../config/schema.ts"), []);
  assertEquals(importing("src/cli/run.ts", "../simulator/simulator.ts"), []);
});

Deno.test("an import that the table does not name is reported", () => {
  assertEquals(importing("src/core/stream/reply.ts", "../../formats/sse.ts"), [
    "core must not import formats",
  ]);
  assertEquals(importing("src/upstream/open.ts", "../api/registry.ts"), [
    "upstream must not import api",
  ]);
  assertEquals(importing("src/simulator/local.ts", "../wires/local/local.ts"), [
    "simulator must not import wires",
  ]);
  assertEquals(importing("src/routing/choose.ts", "../exchange.ts"), [
    "routing must not import exchange.ts",
  ]);
});

Deno.test("every way to import counts, types too", () => {
  const ways = [
    'import type { A } from "../api/registry.ts";',
    'import { type A } from "../api/registry.ts";',
    'import * as all from "../api/registry.ts";',
    'import "../api/registry.ts";',
    'export { a } from "../api/registry.ts";',
    'export type { A } from "../api/registry.ts";',
    'export * from "../api/registry.ts";',
    'const all = await import("../api/registry.ts");',
    'type A = import("../api/registry.ts").A;',
  ];
  for (const source of ways) {
    assertEquals(complaints("src/core/ids.ts", source), ["core must not import api"], source);
  }
});

Deno.test("an export of the file's own names is no import", () => {
  assertEquals(complaints("src/core/ids.ts", "const a = 1; export { a }; export const b = 2;"), []);
});

Deno.test("wires do not know each other, their common files know them all", () => {
  assertEquals(importing("src/wires/compat/encode.ts", "../local/turns.ts"), [
    "wires/compat must not import wires/local",
  ]);
  assertEquals(importing("src/wires/compat/encode.ts", "./profile.ts"), []);
  assertEquals(importing("src/wires/compat/compat.ts", "../wire.ts"), []);
  assertEquals(importing("src/wires/registry.ts", "./local/local.ts"), []);
});

Deno.test("client APIs do not know each other, their common files know them all", () => {
  assertEquals(importing("src/api/chat/chat.ts", "../responses/items.ts"), [
    "api/chat must not import api/responses",
  ]);
  assertEquals(importing("src/api/messages/generate/blocks.ts", "../../generate/open_item.ts"), []);
  assertEquals(importing("src/api/registry.ts", "./chat/chat.ts"), []);
  assertEquals(importing("src/api/chat/chat.ts", "../fields.ts"), []);
});

Deno.test("packages that belong to a folder are reported elsewhere", () => {
  assertEquals(importing("src/server/app.ts", "@hono/hono/cors"), []);
  assertEquals(importing("src/config/schema.ts", "zod"), []);
  assertEquals(importing("src/record/record.ts", "zod"), []);
  assertEquals(importing("src/config/source.ts", "yaml"), []);
  assertEquals(importing("src/api/registry.ts", "@hono/hono/cors"), [
    "api must not import @hono/hono: only server may",
  ]);
  assertEquals(importing("src/wires/wire.ts", "zod"), [
    "wires must not import zod: only config and record may",
  ]);
  assertEquals(importing("src/cli/check.ts", "npm:yaml@2.9.1"), [
    "cli must not import yaml: only config and import may",
  ]);
  assertEquals(importing("src/upstream/open.ts", "node:util"), []);
});

Deno.test("a folder without a line in the table is reported", () => {
  assertEquals(importing("src/utils/all.ts", "../core/json.ts"), [
    "src/utils has no line in the import table",
  ]);
});

Deno.test("files of src do not import tests or scripts; the version may be read", () => {
  assertEquals(importing("src/cli/run.ts", "../../tests/support/world.ts"), [
    "src must not import files outside src",
  ]);
  assertEquals(importing("src/cli/run.ts", "../../deno.json"), []);
});

Deno.test("files outside src may import anything", () => {
  assertEquals(importing("main.ts", "./src/cli/run.ts"), []);
  assertEquals(importing("tests/core/json_test.ts", "../../src/core/json.ts"), []);
  assertEquals(importing("tests/api/zod_test.ts", "zod"), []);
});

Deno.test("an object that lives for one request has methods instead of accessors", () => {
  const message = "an object made for a request has an accessor";
  for (const accessor of ["get done() { return true; }", "set done(value: boolean) {}"]) {
    const source = `export const codec = () => ({ ${accessor} });`;
    assertEquals(complaints("src/core/chain.ts", source), [message], accessor);
    assertEquals(complaints("src/wires/compat/decode.ts", source), [message], accessor);
    assertEquals(complaints("src/exchange.ts", source), [message], accessor);
    assertEquals(complaints("src/traffic/in_flight.ts", source), [], accessor);
    assertEquals(complaints("tests/core/chain_test.ts", source), [], accessor);
  }
  const allowed = "export const codec = () => ({ done: () => true, end() {}, size: 1 });";
  assertEquals(complaints("src/core/chain.ts", allowed), []);
  const shared = "export class Cancellation { get isClientGone(): boolean { return true; } }";
  assertEquals(complaints("src/core/cancellation.ts", shared), []);
});
