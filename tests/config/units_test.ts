import fc from "fast-check";
import { formatDuration, parseDuration } from "../../src/config/units.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a duration is read in milliseconds", () => {
  const expected: Record<string, number> = {
    "0s": 0,
    "250ms": 250,
    "30s": 30_000,
    "10m": 600_000,
    "1h": 3_600_000,
    "1h30m": 5_400_000,
    "1h2m3s4ms": 3_723_004,
    "90m": 5_400_000,
    "007s": 7_000,
  };
  for (const [text, milliseconds] of Object.entries(expected)) {
    assertEquals(parseDuration(text), milliseconds, text);
  }
});

Deno.test("other texts are refused as durations", () => {
  const texts = [
    "",
    "30",
    "s",
    "1.5h",
    "-1s",
    "+1s",
    "1 s",
    "30m1h",
    "1s1s",
    "1d",
    "1H",
    "1m ",
    "٣s",
  ];
  for (const text of texts) assertEquals(parseDuration(text), null, text);
});

Deno.test("a formatted duration reads back as the same time", () => {
  fc.assert(fc.property(fc.nat(), (milliseconds) => {
    assertEquals(parseDuration(formatDuration(milliseconds)), milliseconds);
  }));
});

Deno.test("a duration is formatted without empty parts", () => {
  assertEquals(formatDuration(0), "0s");
  assertEquals(formatDuration(120_000), "2m");
  assertEquals(formatDuration(3_600_250), "1h250ms");
});

Deno.test("durations have no upper limit besides their digits", () => {
  const hour = 3_600_000;
  assertEquals(parseDuration("577h"), 577 * hour);
  assertEquals(parseDuration("999999999999999h"), 999_999_999_999_999 * hour);
  assertEquals(formatDuration(parseDuration("100000h30m") ?? 0), "100000h30m");
  assertEquals(parseDuration("1000000000000000h"), null);
});
