import { assertEquals } from "../support/assert.ts";
import { coalesced } from "../../src/workers/group_metrics.ts";

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

Deno.test("a request in any moment between two runs shares the second one, so that they never run at once", async () => {
  for (let moment = 0; moment < 12; moment++) {
    let running = 0;
    let most = 0;
    let ended = Promise.withResolvers<void>();
    const request = coalesced(async () => {
      most = Math.max(most, ++running);
      await ended.promise;
      running--;
    });
    const requests = [request(), request()];
    ended.resolve();
    ended = Promise.withResolvers();
    for (let turn = 0; turn < moment; turn++) await Promise.resolve();
    requests.push(request());
    while (running === 0) await Promise.resolve();
    for (let turn = 0; turn < 12; turn++) await Promise.resolve();
    ended.resolve();
    await Promise.all(requests);
    assertEquals(most, 1, `after ${moment} turns`);
  }
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
