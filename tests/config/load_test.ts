import { join } from "node:path";
import { fillVariables } from "../../src/config/files.ts";
import { load, type Loaded } from "../../src/config/load.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { routingOver, withProvider } from "./parse.ts";

/** Loads a file of a new directory; gives the configured models, keys and what else was said. */
async function loaded(
  files: Record<string, string>,
  environment: Record<string, string> = {},
  name = "config.yaml",
): Promise<Loaded> {
  const directory = await Deno.makeTempDir();
  try {
    for (const [file, text] of Object.entries(files)) {
      await Deno.writeTextFile(join(directory, file), text);
    }
    return await load(join(directory, name), environment);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function keyOf(result: Loaded): string | undefined {
  assert(result.ok, result.ok ? "" : result.problems.join("\n"));
  return result.config.providers["openai"]?.api_keys[0]?.value;
}

const CONFIG = withProvider("openai", "api_key: ${KEY:-none}");

Deno.test("the environment overrides .env next to the file", async () => {
  const files = { "config.yaml": CONFIG, ".env": "# keys\nKEY='from file' # not mine\n" };
  assertEquals(keyOf(await loaded(files)), "from file");
  assertEquals(keyOf(await loaded(files, { KEY: "from environment" })), "from environment");
  assertEquals(keyOf(await loaded({ "config.yaml": CONFIG })), "none");
});

Deno.test("the .env of an earlier directory has priority, and an invalid one is a warning", async () => {
  const root = await Deno.makeTempDir();
  try {
    const [first, second, third] = ["a", "b", "c"].map((name) => join(root, name));
    assert(first !== undefined && second !== undefined && third !== undefined);
    await Deno.mkdir(first);
    await Deno.mkdir(second);
    await Deno.mkdir(join(third, ".env"), { recursive: true });
    await Deno.writeTextFile(join(first, ".env"), "KEY=beside\n");
    await Deno.writeTextFile(join(second, ".env"), "KEY=here\nOTHER=2\nHOME=here\n");
    const filled = await fillVariables({ HOME: "real" }, [first, second, third, root]);
    assertEquals({ ...filled.variables }, { KEY: "beside", OTHER: "2", HOME: "real" });
    assertEquals(filled.warnings, [
      `${join(third, ".env")} cannot be read, so it sets no variables`,
    ]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("a .json file is read", async () => {
  const config = {
    providers: { openai: { api_key: "k" } },
    routing: { routes: [{ name: "a", targets: [{ provider: "openai" }] }] },
  };
  const files = { "config.json": JSON.stringify(config) };
  assertEquals(keyOf(await loaded(files, {}, "config.json")), "k");
});

Deno.test("a file that is not there is one plain problem", async () => {
  const result = await loaded({}, {}, "missing.yaml");
  assert(!result.ok);
  assertEquals(result.problems.length, 1);
  assertStringIncludes(result.problems.join(), "missing.yaml does not exist.");
});

Deno.test("a directory in place of the file is one plain problem", async () => {
  const result = await loaded({}, {}, ".");
  assert(!result.ok);
  assertEquals(result.problems.length, 1);
  assertStringIncludes(result.problems.join(), "cannot be read.");
});

Deno.test("problems come with every load, warnings with a good one", async () => {
  const bad = await loaded({ "config.yaml": withProvider("openai", "timeout: 1") });
  assert(!bad.ok);
  assertEquals(bad.problems, [
    "providers.openai.timeout: must be a duration with a unit, such as 30s (line 3, column 14)",
  ]);
  const text = `providers:\n  openai:\n    api_key: \${NONE}\n${routingOver("openai")}`;
  const good = await loaded({ "config.yaml": text });
  assert(good.ok);
  assertEquals(good.warnings.length, 1);
});
