import type { Holdings } from "../../../scripts/soak/gateway_process.ts";
import { fitLastHalf } from "../../../scripts/soak/memory.ts";
import { withFigures } from "../../../scripts/soak/page.ts";
import { reportLines, type SoakRun, verdict } from "../../../scripts/soak/verdict.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const HELD: Holdings = {
  timers: 1,
  tasks: 0,
  liveBytes: 30e6,
  codeBytes: 9e6,
  residentBytes: 150e6,
  descriptors: 30,
  sockets: 6,
};

/** Samples of an hour, one in each minute, that grow by this many bytes an hour in each half. */
function memory(firstHalf: number, lastHalf: number) {
  return Array.from({ length: 61 }, (_, minute) => ({
    hours: minute / 60,
    bytes: 30e6 + Math.min(minute, 30) / 60 * firstHalf + Math.max(minute - 30, 0) / 60 * lastHalf,
  }));
}

function newRun(more: Partial<SoakRun> = {}): SoakRun {
  return {
    minutes: 60,
    load: { counts: new Map([["chat over compat", 3]]), problems: [] },
    kinds: ["chat over compat"],
    requestedReloads: { whole: 3, broken: 1 },
    before: HELD,
    after: HELD,
    gauges: {
      inFlight: new Map([["gateway_active_requests", 0]]),
      requests: 9,
      reloads: 3,
      refusedReloads: 2,
      retries: 1,
      fallbacks: 1,
      brokenStreams: 1,
      storeFailures: 3,
      lostWrites: 0,
    },
    live: memory(0, 0),
    code: memory(0, 5e6),
    resident: memory(0, 0),
    complaints: [],
    ...more,
  };
}

Deno.test("a soak without leaks, growth and altered answers passes", () => {
  assertEquals(verdict(newRun()), []);
  assert(reportLines(newRun()).some((line) => line.includes("0.00 ± 0.00 MB an hour")));
});

Deno.test("a soak fails for each descriptor, socket, timer, task and call that remains", () => {
  for (const name of ["descriptors", "sockets", "timers", "tasks"] as const) {
    const after = { ...HELD, [name]: HELD[name] + 1 };
    assertEquals(verdict(newRun({ after })), [`leaked ${name}: 1 more than before the load`]);
  }
  const gauges = { ...newRun().gauges, inFlight: new Map([["gateway_active_requests", 2]]) };
  assertEquals(verdict(newRun({ gauges })), ["leaked calls: gateway_active_requests is 2"]);
});

Deno.test("a soak fails for an altered answer and for an error in the log", () => {
  const load = { ...newRun().load, problems: ["chat: another text"] };
  assertEquals(verdict(newRun({ load })), ["altered answer: chat: another text"]);
  assertEquals(verdict(newRun({ complaints: ["a stack"] })), [
    "the log of the gateway has: a stack",
  ]);
});

Deno.test("a soak fails for a write to the state store that was lost", () => {
  const gauges = { ...newRun().gauges, lostWrites: 2 };
  assertEquals(verdict(newRun({ gauges })), ["lost writes to the state store: 2"]);
});

Deno.test("a soak fails if it did not reload, retry, fall back, break a stream or run each kind of use", () => {
  const { gauges } = newRun();
  for (
    const [more, problem] of [
      [{ gauges: { ...gauges, reloads: 2 } }, "reloads: 2 were applied of 3 requested ones"],
      [
        { gauges: { ...gauges, refusedReloads: 0 } },
        "reloads: 0 of a broken file were refused of 1",
      ],
      [{ gauges: { ...gauges, retries: 0 } }, "the gateway counted no retries"],
      [{ gauges: { ...gauges, fallbacks: 0 } }, "the gateway counted no fallbacks"],
      [{ gauges: { ...gauges, brokenStreams: 0 } }, "the gateway counted no broken streams"],
      [{ kinds: ["chat over compat", "images"] }, "never used: images"],
    ] as const
  ) assertEquals(verdict(newRun(more)), [problem]);
});

Deno.test("a soak of any length fails if the idle gateway has much more memory in use than before the load", () => {
  const grown = (bytes: number) => ({ ...HELD, liveBytes: HELD.liveBytes + bytes });
  for (const minutes of [1, 60]) {
    assertEquals(verdict(newRun({ minutes, after: grown(9e6) })), []);
    assertEquals(verdict(newRun({ minutes, after: grown(11e6) })), [
      "leaked memory: 11.00 MB more in use than before the load",
    ]);
  }
});

Deno.test("from an hour on the slope of memory is judged without its error, before with twice of it", () => {
  // The samples go up and down around a slope of 2 MB an hour.
  const live = memory(2e6, 2e6).map(({ hours, bytes }, at) => ({
    hours,
    bytes: bytes + (at % 2 === 0 ? 3e6 : -3e6),
  }));
  assert((fitLastHalf(live)?.error ?? 0) > 0.5e6);
  assertEquals(verdict(newRun({ live, minutes: 59 })), []);
  assertEquals(verdict(newRun({ live })).map((problem) => problem.slice(0, 20)), [
    "memory in use grows ",
  ]);
});

Deno.test("compiled code is printed with its slope and not judged", () => {
  const run = newRun({ code: memory(5e6, 9e6) });
  assertEquals(verdict(run), []);
  assert(
    reportLines(run).some((line) => /^compiled code +[\d.]+ MB at the end, 9\.00 ± /.test(line)),
  );
});

Deno.test("memory is judged by its slope over the last half of a run that is long enough", () => {
  assertEquals(verdict(newRun({ live: memory(50e6, 0.9e6) })), []);
  assertEquals(verdict(newRun({ live: memory(0, 1.5e6) })).length, 1);
  assertEquals(verdict(newRun({ live: memory(0, 1.5e6), minutes: 2 })), []);
  const slope = fitLastHalf(memory(7e6, 3e6));
  assert(slope !== null && Math.abs(slope.bytesPerHour - 3e6) < 1 && slope.error < 1);
  assertEquals(fitLastHalf(memory(0, 0).slice(0, 2)), null);
  // Of the samples of a minute the lowest counts: the rest has calls in flight.
  const busy = memory(0, 0).map(({ hours, bytes }) => ({ hours: hours + 0.005, bytes: 9 * bytes }));
  assertEquals(fitLastHalf([...memory(0, 0), ...busy])?.bytesPerHour, 0);
});

Deno.test("the figures of a soak replace those that the page has of the same store", () => {
  const part = (store: string, text: string) =>
    `<!-- soak figures over ${store}: x -->\n\n${text}\n\n<!-- end of soak figures over ${store} -->\n`;
  const page = `a\n${part("memory", "old")}b\n${part("sqlite", "other")}c\n`;
  const written = withFigures(page, "memory", ["new"], "Measured.");
  assertEquals(
    written,
    `a\n${part("memory", "```text\nnew\n```\n\nMeasured.")}b\n${part("sqlite", "other")}c\n`,
  );
  assertEquals(withFigures(written, "memory", ["new"], "Measured."), written);
});

Deno.test("a change passes two minutes of the soak before its tests run", async () => {
  const script = await Deno.readTextFile(new URL("../../../.ci/run", import.meta.url));
  const [soak, tests] = ["task soak --minutes 2\n", "task ok\n"].map((text) =>
    script.indexOf(text)
  );
  assert(soak !== undefined && tests !== undefined && soak > 0 && soak < tests);
});
