import { newRecordSet, type RecordPlace } from "../../src/replay/record_set.ts";
import { assertEquals } from "../support/assert.ts";

function setOf(lines: readonly (Readonly<Record<string, unknown>> | string)[], since = -Infinity) {
  const texts = lines.map((one) => typeof one === "string" ? one : JSON.stringify(one));
  return newRecordSet({
    places: () => texts.map(({ length }, start): RecordPlace => ({ start, length })),
    textAt: ({ start }) => texts[start] ?? "",
  }, { key: null, sinceMs: (newest) => newest + since });
}

Deno.test("times are before the newest record, whatever a line that is no record has in its place", () => {
  const at = (minute: number) => `2026-11-23T14:0${minute}:00.000Z`;
  const lines = [1, 2, 3].map((minute) => ({ id: `${minute}`, at: at(minute) }));
  const ids = (more: readonly Readonly<Record<string, unknown>>[]) =>
    setOf([...lines, ...more], -90_000).entries.map(({ id }) => id);
  assertEquals(ids([]), ["2", "3"]);
  assertEquals(ids([{ id: "x", at: "zz" }]), ["2", "3", "x"]);
});

Deno.test("a text that is longer than any record is not read, and has its place in the set", () => {
  const set = newRecordSet({
    places: () => [{ start: 0, length: 2 ** 31 }, { start: 2 ** 31, length: 2 }],
    textAt({ length }) {
      assertEquals(length, 2);
      return "{}";
    },
  }, { key: null, sinceMs: () => -Infinity });
  assertEquals(set.entries.map((one) => set.textOf(one)), ["", "{}"]);
});
