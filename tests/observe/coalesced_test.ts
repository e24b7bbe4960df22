import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { coalesced } from "../../src/observe/coalesced.ts";

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

for (const throws of [false, true]) {
  Deno.test(`a run that ${throws ? "throws" : "fails"} fails only for its own requests`, async () => {
    let runs = 0;
    const request = coalesced(() => {
      if (++runs > 1) return Promise.resolve(runs);
      if (throws) throw new Error("no");
      return Promise.reject(new Error("no"));
    });
    const first = request().catch(() => "failed");
    const second = request();
    assertEquals([await first, await second, await request()], ["failed", 2, 3]);
  });
}

Deno.test("requests within 24 times the time of a run, at most 250 ms, share the next run", async () => {
  for (const [ms, rest] of [[2, 48], [10, 240], [100, 250]] as const) {
    const world = scriptedWorld();
    let runs = 0;
    const request = coalesced(async () => {
      await new Promise<void>((go) => void world.after(ms, go));
      return ++runs;
    }, world);
    const first = request();
    await world.advance(ms);
    assertEquals(await first, 1);
    await world.advance(0);
    const others = Array.from({ length: 1_000 }, () => request());
    await world.advance(rest - 1);
    others.push(request());
    assertEquals(runs, 1);
    await world.advance(1);
    await world.advance(ms);
    assertEquals([new Set(await Promise.all(others)), runs], [new Set([2]), 2]);
    await world.advance(rest + ms);
    const last = request();
    await world.advance(ms);
    assertEquals([await last, runs], [3, 3]);
  }
});
