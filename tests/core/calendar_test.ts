import fc from "fast-check";
import { CALENDAR_PERIODS, isDate, isTimeZone, newCalendar } from "../../src/core/calendar.ts";
import { assert, assertEquals } from "../support/assert.ts";

/**
 * Zones with clocks that change by an hour, by half an hour, at midnight, by a whole day, and
 * never.
 */
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Sao_Paulo",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Asia/Kolkata",
];

const ZONE = fc.constantFrom(...ZONES);
const PERIOD = fc.constantFrom(...CALENDAR_PERIODS);
/** From 2005 to 2035: old rules of summer time, and those to come. */
const WALL_MS = fc.integer({ min: Date.UTC(2005, 0), max: Date.UTC(2035, 0) });

function at(text: string): number {
  return Date.parse(text);
}

Deno.test("a window has its time, its name is that of each of its times, and the next one follows at once", () => {
  fc.assert(fc.property(ZONE, PERIOD, WALL_MS, fc.double({ min: 0, max: 1, noNaN: true }), (
    zone,
    period,
    wallMs,
    share,
  ) => {
    const { name, startMs, endMs } = newCalendar(zone).windowOf(period, wallMs);
    assert(startMs <= wallMs && wallMs < endMs, `${zone} ${name}`);
    const within = Math.min(endMs - 1, startMs + Math.floor((endMs - startMs) * share));
    assertEquals(newCalendar(zone).windowOf(period, within), { name, startMs, endMs });
    const next = newCalendar(zone).windowOf(period, endMs);
    assertEquals(next.startMs, endMs, `${zone} ${name} ${next.name}`);
    assert(next.name !== name);
    const before = newCalendar(zone).windowOf(period, startMs - 1);
    assertEquals(before.endMs, startMs, `${zone} ${name} ${before.name}`);
  }));
});

Deno.test("a calendar gives the same windows in any order of times, also of a clock that jumps", () => {
  fc.assert(fc.property(ZONE, fc.array(fc.tuple(PERIOD, WALL_MS)), (zone, times) => {
    const calendar = newCalendar(zone);
    for (const [period, wallMs] of times) {
      assertEquals(calendar.windowOf(period, wallMs), newCalendar(zone).windowOf(period, wallMs));
    }
  }));
});

Deno.test("a window of days has the local date of its time, outside the repeated minutes of a midnight", () => {
  fc.assert(fc.property(WALL_MS, (wallMs) => {
    const time = Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO("Europe/Berlin");
    const calendar = newCalendar("Europe/Berlin");
    assertEquals(calendar.windowOf("day", wallMs).name, `d:${time.toPlainDate()}`);
    assertEquals(
      calendar.windowOf("month", wallMs).name,
      `m:${time.toPlainDate().toPlainYearMonth()}`,
    );
    const monday = Temporal.PlainDate.from(calendar.windowOf("week", wallMs).name.slice(2));
    assertEquals(monday.dayOfWeek, 1);
    const days = monday.until(time.toPlainDate()).days;
    assert(days >= 0 && days < 7);
  }));
});

Deno.test("windows begin at midnight, on Monday and on the first of a month", () => {
  const { windowOf } = newCalendar("UTC");
  assertEquals(windowOf("day", at("2026-11-22T23:59:59.999Z")), {
    name: "d:2026-11-22",
    startMs: at("2026-11-22T00:00Z"),
    endMs: at("2026-11-23T00:00Z"),
  });
  assertEquals(windowOf("week", at("2026-11-22T23:59Z")).name, "w:2026-11-16");
  assertEquals(windowOf("week", at("2026-11-23T00:00Z")).name, "w:2026-11-23");
  assertEquals(windowOf("month", at("2024-02-29T23:59Z")), {
    name: "m:2024-02",
    startMs: at("2024-02-01T00:00Z"),
    endMs: at("2024-03-01T00:00Z"),
  });
  assertEquals(windowOf("month", at("2026-12-31T23:59Z")).endMs, at("2027-01-01T00:00Z"));
  assertEquals(windowOf("hour", at("2026-11-22T14:30Z")), {
    name: "h:2026-11-22T14+00:00",
    startMs: at("2026-11-22T14:00Z"),
    endMs: at("2026-11-22T15:00Z"),
  });
});

Deno.test("a day on which the clock changes has 23 or 25 hours, and a repeated hour is a window of its name", () => {
  const { windowOf } = newCalendar("Europe/Berlin");
  const hours = (text: string) => {
    const { startMs, endMs } = windowOf("day", at(text));
    return (endMs - startMs) / 3_600_000;
  };
  assertEquals([hours("2026-03-29T12:00Z"), hours("2026-10-25T12:00Z")], [23, 25]);
  const first = windowOf("hour", at("2026-10-25T00:30Z"));
  const second = windowOf("hour", at("2026-10-25T01:30Z"));
  assertEquals([first.name, second.name], ["h:2026-10-25T02+02:00", "h:2026-10-25T02+01:00"]);
  assertEquals(first.endMs, second.startMs);
});

Deno.test("a day begins with its first minute, also where midnight does not exist", () => {
  assertEquals(newCalendar("UTC").startOfDay("2027-06-30"), at("2027-06-30T00:00Z"));
  assertEquals(newCalendar("Europe/Berlin").startOfDay("2027-06-30"), at("2027-06-29T22:00Z"));
  // In São Paulo the clock went from 00:00 to 01:00 on that day.
  assertEquals(newCalendar("America/Sao_Paulo").startOfDay("2018-11-04"), at("2018-11-04T03:00Z"));
});

Deno.test("a date must exist and a time zone must be known", () => {
  const dates = ["2027-06-30", "2024-02-29", "2027-02-29", "2027-13-01", "27-1-1", "2027-6-30", ""];
  assertEquals(dates.map(isDate), [true, true, false, false, false, false, false]);
  assertEquals(["UTC", "Europe/Berlin", "Europe/Nowhere", ""].map(isTimeZone), [
    true,
    true,
    false,
    false,
  ]);
});
