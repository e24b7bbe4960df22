import { withReference } from "../../scripts/readme.ts";
import { parseConfig } from "../../src/config/load.ts";
import { assert, assertEquals } from "../support/assert.ts";

const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));

Deno.test("the table of keys in the README is the one of the schema", () => {
  assertEquals(readme, withReference(readme));
});

Deno.test("every configuration in the README is valid", () => {
  const files = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  assert(files.length > 0);
  const variables = { OPENAI_API_KEY: "k1", ANTHROPIC_API_KEY: "k2" };
  for (const text of files) {
    const loaded = parseConfig(text, variables);
    assertEquals(loaded.ok ? [] : loaded.problems, []);
  }
});
