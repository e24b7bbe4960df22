import { join } from "node:path";
import { COSTS_FOLDER, formatCosts } from "../../../scripts/tools/test_costs.ts";
import { writeGroups } from "../../../scripts/tools/test_groups.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";

Deno.test("a measured group runs the tests of its files, and lists each file with its times", async () => {
  const root = await Deno.makeTempDir();
  const [tests, groups, costs] = ["tests", "groups", "costs"].map((name) => join(root, name));
  if (!tests || !groups || !costs) throw new Error("there are no folders");
  for (const folder of [join(tests, "part"), groups, costs]) {
    await Deno.mkdir(folder, { recursive: true });
  }
  await Deno.writeTextFile(join(tests, "part", "a_test.ts"), 'Deno.test("a", () => {});');
  const definition = 'Deno.test({ name: "b", fn: () => Promise.resolve() });';
  await Deno.writeTextFile(join(tests, "part", "b_test.ts"), definition);
  await writeGroups(tests, groups, true);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", "--no-lock", groups],
    env: { NO_COLOR: "1", [COSTS_FOLDER]: costs },
    stderr: "null",
  }).output();
  assertMatch(new TextDecoder().decode(stdout), /ok \| 2 passed \| 0 failed/);
  const table = formatCosts(costs);
  assertMatch(table, /^ +0\.0 +\d+\.\d +\d+\.\d +\d+\.\d {2}5-part-a_test\.ts$/m);
  for (const name of ["a", "b"]) {
    assertMatch(table, new RegExp(String.raw`^( +\d+\.\d){3}  part/${name}_test\.ts$`, "m"));
  }
  await Deno.remove(root, { recursive: true });
});

Deno.test("groups are listed in the order in which they began, and the dearest files first", async () => {
  const folder = await Deno.makeTempDir();
  const file = (name: string, processorMs: number) => (
    { file: `file:///tests/${name}_test.ts`, processorMs, realMs: 2 * processorMs, loadMs: 100 }
  );
  const groups = {
    late: { beginMs: 3_000, endMs: 9_000, files: [file("cheap", 1_000), file("dear", 4_000)] },
    early: { beginMs: 1_000, endMs: 2_000, files: [file("middle", 2_000)] },
  };
  for (const [group, costs] of Object.entries(groups)) {
    await Deno.writeTextFile(join(folder, `${group}.json`), JSON.stringify({ group, ...costs }));
  }
  const rows = formatCosts(folder).split("\n").filter((line) => !line.includes("seconds"));
  assertEquals(rows.map((row) => row.trim().replaceAll(/ +/g, " ")), [
    "0.0 1.0 2.0 0.1 early",
    "2.0 8.0 5.0 0.2 late",
    "8.0 4.0 0.1 dear_test.ts",
    "4.0 2.0 0.1 middle_test.ts",
    "2.0 1.0 0.1 cheap_test.ts",
  ]);
  await Deno.remove(folder, { recursive: true });
});
