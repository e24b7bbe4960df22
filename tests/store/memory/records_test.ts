import { newMemoryRecords } from "../../../src/store/memory/records.ts";
import { recordBounds } from "../../../src/store/records/bounds.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { testRecords } from "../conformance/records.ts";

testRecords({
  name: "memory",
  clock: "scripted",
  numRuns: 300,
  open({ bounds }) {
    let time = 0;
    return Promise.resolve({
      store: newMemoryRecords<Uint8Array>(() => time, bounds),
      advance: (ms) => Promise.resolve(void (time += ms)),
      close: () => Promise.resolve(),
    });
  },
});

Deno.test("a lookup of many names of one part looks at each of its records once, and of many records at the last ones", async () => {
  let looks = 0;
  const clock = () => {
    looks += 1;
    return 0;
  };
  const store = newMemoryRecords<string>(clock, recordBounds(DEFAULT_RETENTION));
  const names = Array.from({ length: 200 }, (_name, at) => `n${at}`);
  const part = { key: "p", names, bytes: 1, body: "content" };
  const recordCount = 300;
  for (let at = 0; at < recordCount; at++) {
    const next = { head: "", parts: [part], share: "", lifeMs: 1 };
    await store.commit([{ id: { type: "response", id: `r${at}` }, expected: null, next }]);
  }
  looks = 0;
  const found = await stored(store.named("response", names, 2));
  assertEquals(found.length, 2 * names.length);
  const last = new Set(found.map(({ id }) => id));
  assertEquals(last, new Set([`r${recordCount - 1}`, `r${recordCount - 2}`]));
  assert(looks <= 100, `${looks} looks`);
});
