import { coalesced } from "../../src/workers/coalesce.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("requests during a run share one run that begins after it, however many they are", async () => {
  const runs: PromiseWithResolvers<number>[] = [];
  const request = coalesced(() => {
    const run = Promise.withResolvers<number>();
    runs.push(run);
    return run.promise;
  });
  const first = request();
  const others = Array.from({ length: 100 }, () => request());
  assertEquals(runs.length, 1);
  runs[0]?.resolve(1);
  assertEquals(await first, 1);
  while (runs.length < 2) await Promise.resolve();
  runs[1]?.resolve(2);
  assertEquals(new Set(await Promise.all(others)), new Set([2]));
  assertEquals(runs.length, 2);
});

Deno.test("a run that fails fails only for its own requests", async () => {
  let runs = 0;
  const request = coalesced(() =>
    ++runs === 1 ? Promise.reject(new Error("no")) : Promise.resolve(runs)
  );
  const first = request().catch(() => "failed");
  const second = request();
  assertEquals([await first, await second, await request()], ["failed", 2, 3]);
});
