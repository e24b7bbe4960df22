import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { configFile, ran } from "./test_terminal.ts";

const FILE = `
providers:
  up:
    type: compat
    base_url: http://127.0.0.1:1/v1
    key_rest: 90s
    api_keys:
      - {name: main, value: sk-main-secret, weight: 3}
      - {name: spare, value: sk-spare-secret, models: ["gpt-4o*", o1]}
      - {name: old, value: sk-old-secret, weight: 0}
  mini: {type: compat, base_url: "http://127.0.0.1:2/v1", api_keys: [{name: only, value: k, models: ["gpt-*"]}]}
routing:
  routes:
    - {name: main, targets: [{provider: up}, {provider: mini}]}
`;

async function printed(...words: readonly string[]) {
  using file = await configFile(FILE);
  const { code, out } = await ran([...words, "--config", file.path], {});
  assertEquals(/secret/.test(out), false, out);
  return { code, out };
}

Deno.test("check prints the keys of a pool by name, with weights and models", async () => {
  const { code, out } = await printed("check");
  assertEquals(code, 0, out);
  assertStringIncludes(
    out,
    "keys: main (weight 3), spare (weight 1, for gpt-4o*, o1), old (only what it owns); " +
      "a refused key rests for 1m30s\n",
  );
  assertEquals(out.match(/keys:/g)?.length, 1, "a lone key is not printed");
});

Deno.test("explain prints the share of each key that serves the model", async () => {
  const both = await printed("explain", "--model", "gpt-4o-mini");
  assertStringIncludes(both.out, "; keys: main 75%, spare 25%");
  const one = await printed("explain", "--model", "o3");
  assertStringIncludes(one.out, "; keys: main 100%");
  assertStringIncludes(one.out, "mini/o3 skipped: no key of the provider serves the model");
});
