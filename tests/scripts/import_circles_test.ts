import { assert, assertEquals } from "../support/assert.ts";

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
 * Returns the modules in circles: modules without imports among the rest are taken out until none
 * is left.
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

/** The folder of a module of src, as deep as `levels`; the module itself if it is in none. */
function folderOf(module: string, levels: number): string {
  return module.slice(SOURCE.href.length).split("/").slice(0, -1).slice(0, levels).join("/");
}

/**
 * Modules of core that at most two other folders use, with the reason: neither of the two may
 * import the other one, nor may core import any of them.
 */
const LODGERS = new Map([
  ["core/peer_address.ts", "admin and server"],
  ["core/failure/refusal_docs.ts", "admin, and the reference pages"],
  ["core/secret_name.ts", "import and record"],
]);

Deno.test("a module of core has users in more than two folders, or is used by core itself", async () => {
  const users = new Map<string, Set<string>>();
  for (const [module, imports] of await importsOf(SOURCE)) {
    const folder = folderOf(module, 1);
    for (const one of imports) users.set(one, (users.get(one) ?? new Set()).add(folder));
  }
  const lodgers = [...users].filter(([module, folders]) =>
    folderOf(module, 1) === "core" && folders.size <= 2 && !folders.has("core")
  ).map(([module]) => module.slice(SOURCE.href.length));
  assertEquals(lodgers.toSorted(), [...LODGERS.keys()].toSorted());
});

Deno.test("no two subfolders of api/responses import each other", async () => {
  const pairs = new Set<string>();
  for (const [module, imports] of await importsOf(SOURCE)) {
    const from = folderOf(module, 3);
    for (const to of imports.map((one) => folderOf(one, 3))) {
      const areInside = [from, to].every((one) => one.startsWith("api/responses/"));
      if (areInside && from !== to) pairs.add(`${from} ${to}`);
    }
  }
  assert(pairs.size > 3);
  const mutual = [...pairs].filter((pair) => pairs.has(pair.split(" ").toReversed().join(" ")));
  assertEquals(mutual, []);
});
