import { mixedLine } from "../../../scripts/bench/mixed.ts";
import { piecesIn, piecesLine, withoutChunkHeads } from "../../../scripts/bench/pieces.ts";
import { newRateSearch, ratesLine } from "../../../scripts/bench/rates.ts";
import { tailLines } from "../../../scripts/bench/tail.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

/** A thousand times of which ten are late, in microseconds. */
function times(most: number, late: number): readonly number[] {
  return Array.from({ length: 1_000 }, (_, at) => at < 990 ? most : late);
}

Deno.test("the row tail shows what each system adds to the provider, and judges p99 above the floor", () => {
  const of = (most: number, late: number) => ({
    timesUs: times(most, late),
    cpuUs: 500,
    calls: [],
  });
  const others = {
    direct: { timesUs: times(21_000, 22_000), cpuUs: null, calls: [] },
    floor: of(21_300, 22_500),
    least: { timesUs: times(21_350, 22_600), cpuUs: null, calls: [] },
  };
  const lines = tailLines({ ...others, gateway: of(21_400, 22_800) });
  assertMatch(
    lines,
    /^tail +floor +p50 \+0\.30 ms, p99 \+0\.50 ms, p99\.9 \+0\.50 ms; CPU of a call 500 µs\n/,
  );
  assertMatch(lines, /least +p50 \+0\.35 ms, .*; CPU of a call - µs\n/);
  assertMatch(lines, /gateway +p50 \+0\.40 ms, p99 \+0\.80 ms, .*; p99 0\.30 ms above the floor/);
  assert(!lines.includes("missed"));
  assert(tailLines({ ...others, gateway: of(21_400, 22_801) }).endsWith("0.30 ms missed"));
});

/** Searches over a system whose p99 in milliseconds is that of each rate. */
function searched(bounds: readonly number[], highest: number, p99At: (rate: number) => number) {
  const search = newRateSearch(bounds, highest);
  const looks: number[] = [];
  for (let rate = search.next(); rate !== null; rate = search.next()) {
    looks.push(rate);
    search.seen(rate, p99At(rate));
  }
  return { rates: search.rates(), looks };
}

Deno.test("the search for a rate ends within a twentieth of the highest rate below each bound", () => {
  const { rates, looks } = searched([1, 5, 50], 1_000, (rate) => rate / 100);
  const [one = 0, five = 0, fifty = 0] = rates;
  assert(one < 100 && one >= 50, `${one}`);
  assert(five < 500 && five >= 450, `${five}`);
  assert(fifty >= 950, `${fifty}`);
  assert(looks.length < 16, `${looks}`);
});

Deno.test("a system that is never below a bound has rate 0, for which the row shows none and no ratio", () => {
  const { rates } = searched([1], 1_000, () => 2);
  assertEquals(rates, [0]);
  const lateMs = times(0.1, 2);
  const line = ratesLine({ floor: [0, 400, 500, 900], gateway: [0, 300, 500, 800], lateMs });
  assertMatch(line, /below 1 ms none \(floor none, -\), 5 ms 300\/s \(floor 400\/s, 0\.75\), /);
  assertMatch(line, /; the load was 0\.10 ms late at p50, 2\.00 ms at p99$/);
  const none = ratesLine({ floor: [0, 0, 0, 0], gateway: [0, 0, 0, 0], lateMs: [] });
  assertMatch(none, /50 ms none \(floor none, -\); the load was - ms late at p50, - ms at p99$/);
});

Deno.test("the times in pieces of a stream are read, also of several in one text", () => {
  const text = 'data: {"content":"sent 12.5"}\n\ndata: {"content":"sent 30"}\n\ndata: {"conte';
  const [first, second, ...others] = piecesIn(text);
  assertEquals([first?.[0], second?.[0], others], [12.5, 30, []]);
  const rest = text.slice(first?.[1]).slice(second?.[1]);
  assertEquals(rest, '}\n\ndata: {"conte');
});

Deno.test("a piece is read though a chunk begins within it, whose size the runtime writes in capitals", () => {
  const [piece] = piecesIn(withoutChunkHeads('{"content":"sent 1\r\nFB\r\n2.5"}'));
  assertEquals(piece?.[0], 12.5);
});

Deno.test("the row pieces counts those that are later than 50 ms, and judges the gateway only", () => {
  const late = { streams: 512, lateMs: [1, 2, 3, 50, 51, 60], cpuUs: { system: 31, others: 42 } };
  assertMatch(
    piecesLine({ ...late, system: "gateway" }),
    /most 60\.0 ms; .*; 2 of 6 .* ms missed$/,
  );
  assertMatch(
    piecesLine({ ...late, system: "floor" }),
    /CPU of a piece 31 µs, of provider and load 42 µs; 2 of 6 later than 50 ms$/,
  );
  const early = { streams: 512, lateMs: [1, 50], cpuUs: null } as const;
  assertMatch(piecesLine({ ...early, system: "gateway" }), /0 of 2 later than 50 ms$/);
});

Deno.test("the row mixed shows the growth in a minute, and how much comes back", () => {
  // It grows by 2 MB in each minute, from 100 MB to 120 MB.
  const samples = Array.from({ length: 601 }, (_, second) => ({
    hours: second / 3_600,
    bytes: 100e6 + second / 60 * 2e6,
  }));
  const run = { program: "source", minutes: 10, calls: 9, idleBytes: 80e6, samples } as const;
  assertMatch(
    mixedLine({ ...run, minuteAfterBytes: 110e6, quietBytes: 100e6 }),
    /9 calls in 10 minutes: 2\.0 ± 0\.0 MB a minute .* 120\.0 at most, .*: 25 % and 50 % of it came back$/,
  );
});
