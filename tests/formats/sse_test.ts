import fc from "fast-check";
import { newSseFraming, sseText } from "../../src/formats/sse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { textPieces } from "../support/pieces.ts";
import { cut, rawOf, recordsOf } from "./framing_cases.ts";

function read(...texts: string[]) {
  return recordsOf(newSseFraming(), texts);
}

Deno.test("an event keeps its name, its data and its text", () => {
  assertEquals(read('event: delta\ndata: {"a":1}\n\n'), [
    { event: "delta", data: '{"a":1}', raw: 'event: delta\ndata: {"a":1}\n\n' },
  ]);
});

Deno.test("only one space after the colon is dropped, and none is required", () => {
  assertEquals(read("data:a\n\ndata: b\n\ndata:  c\n\n").map((record) => record.data), [
    "a",
    "b",
    " c",
  ]);
});

Deno.test("several data lines are joined by a line feed, empty ones too", () => {
  assertEquals(read("data: a\ndata\ndata:\ndata: b\n\n")[0]?.data, "a\n\n\nb");
});

Deno.test("comments, id, retry and unknown fields do not change a record", () => {
  const text = ": hello\nid: 7\nretry: 10\ndatax: no\n data: no\nevents: no\ndata: yes\n\n";
  assertEquals(read(text), [{ event: null, data: "yes", raw: text }]);
});

Deno.test("a block without data is a record with empty data", () => {
  assertEquals(read(": ping\n\n", "event: x\nid: 1\n\n"), [
    { event: null, data: "", raw: ": ping\n\n" },
    { event: "x", data: "", raw: "event: x\nid: 1\n\n" },
  ]);
});

Deno.test("the last event line sets the name of a record, and an empty one removes it", () => {
  assertEquals(
    read("event: a\nevent: b\ndata\n\nevent: a\nevent:\ndata\n\n").map((r) => r.event),
    ["b", null],
  );
});

Deno.test("a byte order mark counts only at the very start", () => {
  const records = read("\ufeff", "data: a\n\n\ufeffdata: b\n\n");
  assertEquals(records.map((record) => record.data), ["a", ""]);
  assertEquals(records[0]?.raw, "\ufeffdata: a\n\n");
});

Deno.test("lines end in LF, CRLF or CR, also mixed", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const text = `event: e${end}data: a${end}data: b${end}${end}`;
    assertEquals(read(text), [{ event: "e", data: "a\nb", raw: text }]);
  }
  assertEquals(read("data: a\rdata: b\r\ndata: c\n\r\n")[0]?.data, "a\nb\nc");
});

Deno.test("a line feed that arrives after its CR does not begin another line", () => {
  const records = read("data: a\r", "\ndata: b\r", "\n\r", "\ndata: c\r\n\r\n");
  assertEquals(records, [
    { event: null, data: "a\nb", raw: "data: a\r\ndata: b\r\n\r\n" },
    { event: null, data: "c", raw: "data: c\r\n\r\n" },
  ]);
});

Deno.test("a record whose lines end in CR alone does not wait for the next character", () => {
  const framing = newSseFraming();
  assertEquals(framing.push("data: a\r\r").map((record) => record.data), ["a"]);
});

Deno.test("a record whose last CR may still be followed by an LF is complete at the end of the source", () => {
  const framing = newSseFraming();
  assertEquals(framing.push("data: a\r\n\r"), []);
  assertEquals(framing.end(), [{ event: null, data: "a", raw: "data: a\r\n\r" }]);
});

Deno.test("additional blank lines belong to the next record", () => {
  assertEquals(read("\n\ndata: a\n\n\n\ndata: b\n\n").map((record) => record.raw), [
    "\n\ndata: a\n\n",
    "\n\ndata: b\n\n",
  ]);
});

Deno.test("a block that the end of the source cuts off is dropped", () => {
  assertEquals(read("data: a\n\ndata: b\n").map((record) => record.data), ["a"]);
  assertEquals(read("data: a"), []);
});

Deno.test("held returns the characters of the incomplete record", () => {
  const framing = newSseFraming();
  framing.push("data: a\n\nda");
  framing.push("ta: b");
  assertEquals(framing.held(), 7);
  framing.push("\n\n");
  assertEquals(framing.held(), 0);
});

const streams = fc.array(
  fc.constantFrom("data: a", "data:", "data", "event: e", "event:", ": c", "id: 1", "é😀", " ")
    .chain((line) =>
      fc.constantFrom("\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r", "\r\r\n")
        .map((end) => line + end)
    ),
  { maxLength: 12 },
).chain((lines) => fc.constantFrom("", "\ufeff", "\n").map((start) => start + lines.join("")));

Deno.test("a text split into any pieces gives the same records", () => {
  fc.assert(fc.property(streams, fc.array(fc.nat(80)), (text, places) => {
    const whole = read(text);
    assertEquals(read(...cut(text, places)), whole);
    assertEquals(read(...textPieces(text, 1)), whole);
  }));
});

Deno.test("the raw texts of all records add up to the text received up to the last record", () => {
  fc.assert(fc.property(streams, (text) => {
    const records = read(text + "data: last\n\n");
    assertEquals(rawOf(records), text + "data: last\n\n");
    assert(text.startsWith(rawOf(read(text))));
  }));
});

Deno.test("a record of 4 MiB may arrive one character at a time", () => {
  const framing = newSseFraming();
  const size = 4 * 1024 * 1024;
  for (let count = 0; count < 6; count++) framing.push("data: ".charAt(count));
  for (let count = 0; count < size; count++) framing.push("x");
  assertEquals(framing.held(), size + 6);
  framing.push("\n");
  assertEquals(framing.push("\n")[0]?.data.length, size);
});

Deno.test("thousands of data lines of a record are joined like a few, read in any pieces", () => {
  for (const count of [1_024, 1_025, 1_026, 3_000]) {
    const lines = Array.from({ length: count }, (_, at) => at % 3 === 0 ? "" : String(at));
    const text = lines.map((line) => `data:${line}\n`).join("") + "\ndata:next\n\n";
    for (const size of [1, 7, text.length]) {
      assertEquals(read(...textPieces(text, size)).map(({ data }) => data), [
        lines.join("\n"),
        "next",
      ]);
    }
  }
});

Deno.test("a record with received text is sent as that text", () => {
  const raw = ": hi\r\ndata:1\r\n\r\n";
  assertEquals(sseText([{ event: null, data: "1", raw }]), raw);
});

Deno.test("a record without received text is written with a data line for each line", () => {
  const records = [
    { event: "e", data: "a\nb\r\nc", raw: null },
    { event: null, data: "", raw: null },
  ];
  assertEquals(sseText(records), "event: e\ndata: a\ndata: b\ndata: c\n\ndata: \n\n");
  assertEquals(read(sseText(records)).map((record) => record.data), ["a\nb\nc", ""]);
});
