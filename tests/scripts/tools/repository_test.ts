import { assert, assertEquals } from "../../support/assert.ts";

function read(name: string): Promise<string> {
  return Deno.readTextFile(new URL(`../../../${name}`, import.meta.url));
}

Deno.test("deno.json names each import once", async () => {
  const names = [...(await read("deno.json")).matchAll(/^ {4}"([^"]+)": "(?:npm|jsr):/gm)];
  const seen = names.map(([, name]) => name);
  assert(seen.length > 10);
  assertEquals(seen.length, new Set(seen).size);
});

Deno.test("the database that a run in the folder leaves is not committed", async () => {
  assert((await read(".gitignore")).split("\n").includes("switchyard.db*"));
});

Deno.test("the page about workers names the socket option that shares their port", async () => {
  assert((await read("docs/operate/workers.md")).includes("SO_REUSEPORT"));
});
