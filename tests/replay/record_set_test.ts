import {
  MAX_SET_RECORDS,
  newRecordSet,
  placesIn,
  type RecordPlace,
} from "../../src/replay/record_set.ts";
import { assert, assertEquals } from "../support/assert.ts";

function setOf(lines: readonly (Readonly<Record<string, unknown>> | string)[], since = -Infinity) {
  const texts = lines.map((one) => typeof one === "string" ? one : JSON.stringify(one));
  const set = newRecordSet({
    places: () => texts.map(({ length }, start): RecordPlace => ({ start, length })),
    textAt: ({ start }) => texts[start] ?? "",
  }, { key: null, sinceMs: (newest) => newest + since });
  assert(typeof set !== "string");
  return set;
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
  assert(typeof set !== "string");
  assertEquals(set.entries.map((one) => set.textOf(one)), ["", "{}"]);
});

Deno.test("a set has at most 1,000,000 records, whose places are in memory", () => {
  let read = 0;
  const setOf = (max: number) => {
    read = 0;
    const set = newRecordSet(
      {
        places: () => [0, 1, 2].map((start) => ({ start, length: 2 })),
        textAt: () => `{"id":"${read++}"}`,
      },
      { key: null, sinceMs: () => -Infinity },
      max,
    );
    return typeof set === "string" ? set : set.entries.length;
  };
  assertEquals(setOf(3), 3);
  assertEquals(
    [setOf(2), read],
    ["There are more than 2 records; replay them in parts.", 2],
  );
  assertEquals(MAX_SET_RECORDS, 1_000_000);
});

Deno.test("blank lines are no records, whichever line ends a text has", () => {
  const text = "\r\n{}\r\n\r\n\n{}\n\r\nx\n\r";
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 100]) {
    const places = placesIn((block, start) => {
      const part = bytes.subarray(start, start + size);
      block.set(part);
      return part.length;
    });
    const lines = [...places].map(({ start, length }) => text.slice(start, start + length).trim());
    assertEquals(lines, ["{}", "{}", "x"], `blocks of ${size}`);
  }
});
