import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const ROOT = new URL("../../../", import.meta.url);

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the modules that are loaded with the program, before it has read its configuration. */
async function loadedModules(): Promise<ReadonlySet<string>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "main.ts"],
    cwd: ROOT,
    stderr: "inherit",
  }).output();
  const graph: JsonObject = JSON.parse(new TextDecoder().decode(stdout));
  const modules = new Map(
    objectsOf(graph.modules).map(({ specifier, dependencies }) => [specifier, dependencies]),
  );
  const loaded = new Set<string>();
  const reach = (specifier: string) => {
    if (loaded.has(specifier)) return;
    loaded.add(specifier);
    for (const { isDynamic, code } of objectsOf(modules.get(specifier))) {
      if (isDynamic === true || !isObject(code)) continue;
      if (typeof code.specifier === "string") reach(code.specifier);
    }
  };
  reach(new URL("main.ts", ROOT).href);
  return loaded;
}

Deno.test("a gateway with another store loads nothing of the store sqlite", async () => {
  const loaded = await loadedModules();
  assert(loaded.has(new URL("src/store/open_store.ts", ROOT).href));
  const found = [...loaded].filter((module) =>
    module.includes("/src/store/sqlite/") || module === "node:sqlite"
  );
  assertEquals(found, []);
});
