import { assertEquals } from "../../support/assert.ts";
import { checkUsage, checkUsageBound, usageRow } from "../conformance/usage.ts";
import { withFile } from "./store.ts";

Deno.test("usage in a file is added up by day, key, provider and model, each batch once", async () => {
  await withFile(async (file) => {
    const store = await file.open();
    await checkUsage(store.usage);
    await store.close();
  });
});

Deno.test("usage in a file is bounded by the rows of a day", async () => {
  await withFile(async (file) => {
    const store = await file.open();
    await checkUsageBound(store.usage);
    await store.close();
  });
});

Deno.test("usage in a file outlives the process, for the days that are stored, and a purge deletes it", async () => {
  await withFile(async (file) => {
    const first = await file.open();
    await first.usage.add({ id: "a", rows: [usageRow({ day: "2026-11-01" })], days: 10 });
    await first.usage.add({ id: "b", rows: [usageRow({ day: "2026-11-10" })], days: 10 });
    await first.close();
    const second = await file.open();
    const days = async () => {
      const found = await second.usage.read(["2026-11-01", "2026-11-10", "2026-11-11"]);
      return found.ok ? found.value.map(({ day }) => day) : null;
    };
    assertEquals(await days(), ["2026-11-01", "2026-11-10"]);
    await second.usage.add({ id: "c", rows: [usageRow({ day: "2026-11-11" })], days: 10 });
    assertEquals(await days(), ["2026-11-10", "2026-11-11"]);
    await second.purge();
    assertEquals(await days(), []);
    await second.close();
  });
});
