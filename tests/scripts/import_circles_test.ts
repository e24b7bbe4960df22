import { assertEquals } from "../support/assert.ts";

const SOURCE = new URL("../../src/", import.meta.url);

/** The modules under src by URL, each with those that it imports, types too. */
async function importsOf(folder: URL): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const url = new URL(isDirectory ? `${name}/` : name, folder);
    if (isDirectory) {
      for (const [module, imports] of await importsOf(url)) found.set(module, imports);
    } else if (name.endsWith(".ts")) {
      const text = await Deno.readTextFile(url);
      const specifiers = [...text.matchAll(/ from "(\.[^"]+\.ts)";/g)].map(([, path = ""]) => path);
      found.set(url.href, specifiers.map((path) => new URL(path, url).href));
    }
  }
  return found;
}

/**
 * What is left of a graph when modules that import none of those left are taken out again and
 * again.
 */
function circular(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map(graph);
  for (let before = -1; before !== left.size;) {
    before = left.size;
    for (const [module, imports] of left) {
      if (!imports.some((one) => left.has(one))) left.delete(module);
    }
  }
  return [...left.keys()].map((module) => module.slice(SOURCE.href.length)).toSorted();
}

Deno.test("modules that import each other are found, and what only imports them", () => {
  const at = (name: string) => new URL(name, SOURCE).href;
  const graph = new Map([
    [at("leaf.ts"), []],
    [at("fine.ts"), [at("leaf.ts")]],
    [at("a.ts"), [at("b.ts"), at("leaf.ts")]],
    [at("b.ts"), [at("a.ts")]],
    [at("user.ts"), [at("a.ts")]],
  ]);
  assertEquals(circular(graph), ["a.ts", "b.ts", "user.ts"]);
});

Deno.test("no modules of src import each other, not even their types", async () => {
  const graph = await importsOf(SOURCE);
  assertEquals(graph.size > 100, true);
  assertEquals(circular(graph), []);
});
