import { success } from "../../../src/core/failure/result.ts";
import { MAX_STEP_PARTS } from "../../../src/store/records/record_store.ts";
import type { Link } from "../../../src/store/sqlite/link.ts";
import { openLink } from "../../../src/store/sqlite/open_link.ts";
import { newSqliteRecords } from "../../../src/store/sqlite/records.ts";
import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { scriptedWorld } from "../../support/world.ts";
import { testRecords } from "../conformance/records.ts";
import { newThreadStarter } from "./kept_threads.ts";
import { newMemoryFolder } from "./store.ts";

testRecords({
  name: "sqlite",
  clock: "scripted",
  numRuns: 10,
  async open({ bounds }) {
    const folder = await newMemoryFolder();
    const world = scriptedWorld();
    const threads = newThreadStarter();
    const log = { warn: () => {}, error: () => {} };
    const options = { path: `${folder}/state.db`, synchronous: "full", maxPages: null } as const;
    const opening = { options, bounds };

    async function open(start = threads.start) {
      const opened = await openLink(opening, { world, log, start });
      if (!opened.ok) throw new Error(opened.problem);
      return opened.link;
    }

    let link = await open();
    return {
      store: newSqliteRecords(link),
      advance: (ms) => world.advance(ms),
      async reopen() {
        await link.close();
        threads.end();
        link = await open();
        return newSqliteRecords(link);
      },
      async close() {
        await link.close();
        await Deno.remove(folder, { recursive: true });
      },
    };
  },
});

Deno.test("a lookup of very many records is divided, so that other operations come between its steps", async () => {
  const steps: number[] = [];
  const run = (_name: string, { ids }: { readonly ids: readonly unknown[] }) => {
    steps.push(ids.length);
    return Promise.resolve(success(ids.map(() => null)));
  };
  const records = newSqliteRecords({ run } as unknown as Link);
  const count = 2 * MAX_STEP_PARTS + 7;
  const ids = Array.from(
    { length: count },
    (_, at) => ({ type: "response", id: `r${at}` } as const),
  );
  assertEquals((await stored(records.get(ids, { content: "head" }))).length, count);
  assertEquals(steps, [MAX_STEP_PARTS, MAX_STEP_PARTS, 7]);
});

Deno.test("a lookup of very many names is divided, so that other operations come between its steps", async () => {
  const steps: number[] = [];
  const run = (_name: string, { names }: { readonly names: readonly string[] }) => {
    steps.push(names.length);
    return Promise.resolve(success(names.map((name) => ({ name }))));
  };
  const records = newSqliteRecords({ run } as unknown as Link);
  const names = Array.from({ length: 2 * MAX_STEP_PARTS + 7 }, (_, at) => `n${at}`);
  const found = await stored(records.named("response", names, 2));
  assertEquals(found.map(({ name }) => name), names);
  assertEquals(steps, [MAX_STEP_PARTS, MAX_STEP_PARTS, 7]);
});
