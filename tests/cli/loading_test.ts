import { isObject, type JsonObject, type JsonValue } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";

const ROOT = new URL("../../", import.meta.url);

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

const loaded = await loadedModules();

/**
 * Modules that are loaded when they are needed: the start of a gateway would read and compile them.
 */
const LATER = {
  "the store sqlite": /\/src\/store\/sqlite\/|^node:sqlite$/,
  "the simulator": /\/src\/simulator\//,
  "the importers": /\/src\/import\//,
  "the packages for spans": /@opentelemetry/,
};

for (const [title, pattern] of Object.entries(LATER)) {
  Deno.test(`the start of a gateway loads nothing of ${title}`, () => {
    assert(loaded.has(new URL("src/store/open_store.ts", ROOT).href));
    assertEquals([...loaded].filter((module) => pattern.test(module)), []);
  });
}
