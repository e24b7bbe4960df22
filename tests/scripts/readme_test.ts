import { withReference } from "../../scripts/readme.ts";
import { parseConfig } from "../../src/config/load.ts";
import { accessFields } from "../../src/observe/access_log.ts";
import { newMetrics } from "../../src/observe/metrics.ts";
import { configOf, withSection } from "../config/parse.ts";
import { declaredIn } from "../observe/exposition.ts";
import { reportOf } from "../observe/reports.ts";
import { assert, assertEquals } from "../support/assert.ts";

const source = await Deno.readTextFile(new URL("../../src/observe/report.ts", import.meta.url));
const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));

Deno.test("the table of keys in the README is the one of the schema", () => {
  assertEquals(readme, withReference(readme));
});

Deno.test("every configuration in the README is valid", () => {
  const files = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  const [whole = "", ...sections] = files;
  assert(whole.includes("providers:") && sections.length > 4);
  const names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TEAM_A_KEY", "BATCH_KEY"];
  const variables = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  for (const text of [whole, ...sections.map((section) => section + whole)]) {
    const loaded = parseConfig(text, variables);
    assertEquals(loaded.ok ? loaded.warnings : loaded.problems, []);
  }
});

Deno.test("the README names every metric that there is, and no other", async () => {
  const config = configOf(withSection());
  const metrics = newMetrics({
    config: () => config,
    breakers: () => [],
    cache: () => ({ entries: 0, bytes: 0 }),
    stores: () => ({}),
  });
  // Behind a dot stands the key of a section.
  const named = new Set(readme.match(/(?<!\.)\b(?:gateway|process)_[a-z_]+\b/g));
  assertEquals([...named].toSorted(), [...declaredIn(await metrics.scrape())].toSorted());
});

Deno.test("the README names every field of an access line and every way in which a call ends", () => {
  const [, logs = ""] = /\n## Logs\n([\s\S]*?)\n## /.exec(readme) ?? [];
  // Tells of several providers in one call; who reads `tries` knows it.
  const fields = Object.keys(accessFields(reportOf())).filter((name) => name !== "providers");
  const ends = /type End =((?:\s+\| "\w+")+);/.exec(source)?.[1]?.match(/\w+/g) ?? [];
  assert(ends.length > 10);
  const missing = [...fields, ...ends].filter((name) => !logs.includes(`\`${name}\``));
  assertEquals(missing, []);
});
