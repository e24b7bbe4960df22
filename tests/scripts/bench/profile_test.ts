import {
  collectionsLine,
  collectionsOf,
  type CpuProfile,
  sharesLine,
  sharesOf,
} from "../../../scripts/bench/profile.ts";
import { assertEquals } from "../../support/assert.ts";

const SOURCES = new URL("../../../src/", import.meta.url).href;

function node(id: number, functionName: string, url: string, children: readonly number[] = []) {
  return { id, callFrame: { functionName, url }, children };
}

const PROFILE: CpuProfile = {
  startTime: 0,
  nodes: [
    node(1, "(root)", "", [2, 3, 4, 7, 8]),
    node(2, "(idle)", ""),
    node(3, "(garbage collector)", ""),
    node(4, "handle", `${SOURCES}server/app.ts`, [5]),
    node(5, "attempt", `${SOURCES}attempts/attempt.ts`, [6]),
    node(6, "op_write", "ext:core/00_infra.js"),
    node(7, "serve", "ext:deno_http/00_serve.ts"),
    node(8, "exchange", `${SOURCES}exchange.ts`),
  ],
  // The load begins in the middle.
  samples: [7, 2, 3, 4, 5, 6, 6, 7, 8, 2],
  timeDeltas: [900, 100, 10, 20, 10, 20, 20, 15, 5, 900],
};

Deno.test("the shares of a profile are of the busy time, and what the runtime does belongs to the function that calls it", () => {
  assertEquals(sharesOf(PROFILE), [
    ["src/attempts", 0.5],
    ["src/server", 0.2],
    ["outside of functions", 0.15],
    ["garbage collector", 0.1],
    ["src/exchange.ts", 0.05],
  ]);
});

Deno.test("the line of a profile leaves small parts out", () => {
  assertEquals(
    sharesLine("one.cpuprofile", [["src/server", 0.985], ["src/cache", 0.015]]),
    "profile one.cpuprofile: src/server 99 %",
  );
});

Deno.test("samples of a garbage collection that follow each other are one", () => {
  const samples = [3, 4, 3, 3, 4, 3];
  const profile = { ...PROFILE, samples, timeDeltas: [9_000, 1, 7_000, 5_000, 1, 2_000] };
  const collections = collectionsOf(profile);
  assertEquals(collections, [12_000, 2_000]);
  assertEquals(
    collectionsLine("one", collections),
    "profile one: 2 garbage collections, 14.0 ms in all, at most 12.0 ms, 1 above 10.0 ms",
  );
});
