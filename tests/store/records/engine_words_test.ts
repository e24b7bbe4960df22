import { assertEquals } from "../../support/assert.ts";

/** Words of the rules of stored objects, which are in `src/store/objects/`, once for all stores. */
const RULE_WORDS = /conflict|caller|ambiguous|duplicate/gi;

/** Files of the engines of records. */
const ENGINE_FILES = [
  /^memory\/(?:parts|records|shares|table)\.ts$/,
  /^sqlite\/(?:operations\/)?[a-z]*_?records?_?[a-z]*\.ts$/,
  /^valkey\/(?:scripts\/)?[a-z_]*\.ts$/,
];

/** Files with quotas of callers. */
const QUOTA_FILES = /quota/;

const STORE = new URL("../../../src/store/", import.meta.url);

async function* filesIn(folder: string): AsyncIterable<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, STORE))) {
    if (isDirectory) yield* filesIn(`${folder}${name}/`);
    else yield `${folder}${name}`;
  }
}

Deno.test("an engine of records knows no rule of stored objects", async () => {
  const read: string[] = [];
  for (const folder of ["memory/", "sqlite/", "valkey/"]) {
    for await (const file of filesIn(folder)) {
      if (QUOTA_FILES.test(file) || !ENGINE_FILES.some((files) => files.test(file))) continue;
      read.push(file);
      const text = await Deno.readTextFile(new URL(file, STORE));
      // A clause of SQL.
      const words = text.replaceAll("on conflict do", "").match(RULE_WORDS) ?? [];
      assertEquals(words, [], file);
    }
  }
  for (const file of ["memory/table.ts", "sqlite/operations/commit_records.ts"]) {
    assertEquals(read.includes(file), true, file);
  }
});
