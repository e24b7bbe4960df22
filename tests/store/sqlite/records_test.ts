import { openLink } from "../../../src/store/sqlite/open_link.ts";
import { newSqliteRecords } from "../../../src/store/sqlite/records.ts";
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
