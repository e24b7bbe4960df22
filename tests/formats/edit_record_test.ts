import fc from "fast-check";
import type { StreamRecord } from "../../src/core/stream/reply.ts";
import { findValue, replaceValue } from "../../src/formats/edit.ts";
import { editRecord } from "../../src/formats/edit_record.ts";
import { newSseFraming, sseText } from "../../src/formats/sse.ts";
import { assert, assertEquals } from "../support/assert.ts";

function recordsOf(text: string): readonly StreamRecord[] {
  return newSseFraming().push(text);
}

function withNumber(record: StreamRecord | undefined): StreamRecord {
  assert(record !== undefined);
  const found = findValue(record.data, ["a"]);
  assert(found !== null);
  return editRecord(record, [replaceValue(found, "20")]);
}

const DATA = '{"b":"data: 1\\n","a":1, "c":"\u2028"}';

for (
  const [what, text] of [
    ["a plain record", `data: ${DATA}\n\n`],
    ["line ends of two characters", `event: x\r\ndata: ${DATA}\r\n\r\n`],
    ["line ends in CR alone", `event: x\rdata: ${DATA}\r\r`],
    ["no blank behind the name", `event:x\ndata:${DATA}\n\n`],
    ["two blanks behind the name", `data:  ${DATA}\n\n`],
    ["other fields and comments", `: data: 1\nid: 1\ndata: ${DATA}\nretry: 1\n: c\nevent: x\n\n`],
    ["blank lines and a byte order mark before it", `\ufeffdata: ${DATA}\n\n`],
    [
      "data on several lines",
      `data: {"b":"a",\nid: 1\ndata:\r\ndata\ndata:  "a":1,\n: c\ndata: "c":1}\n\n`,
    ],
    ["an edit at the end of a line", `data: {"b":"a","a":\ndata:1\ndata: }\n\n`],
  ] as const
) {
  Deno.test(`an edited record keeps every other byte: ${what}`, () => {
    const [record] = recordsOf(text);
    const edited = withNumber(record);
    assertEquals(edited.raw, text.replace(/"a":(\ndata:)?1/, '"a":$120'));
    assertEquals(recordsOf(edited.raw ?? ""), [edited]);
  });
}

Deno.test("a text is inserted at its position in the data, also on another line", () => {
  const [record] = recordsOf("data: {\r\ndata: }\r\n\r\n");
  assert(record !== undefined);
  assertEquals(
    editRecord(record, [{ start: 1, end: 1, text: '"a":1' }]).raw,
    'data: {"a":1\r\ndata: }\r\n\r\n',
  );
  assertEquals(
    editRecord(record, [{ start: 2, end: 2, text: '"a":1' }]).raw,
    'data: {\r\ndata: "a":1}\r\n\r\n',
  );
});

Deno.test("a value on several lines is replaced as a whole", () => {
  const [record] = recordsOf('data: {"a":[\ndata: 1],\ndata: "b":2}\n\n');
  assertEquals(withNumber(record).raw, 'data: {"a":20,\ndata: "b":2}\n\n');
});

Deno.test("a record without its received text has edited data alone", () => {
  const edited = withNumber({ event: "x", data: '{"a":1}', raw: null });
  assertEquals(edited, { event: "x", data: '{"a":20}', raw: null });
  // A byte order mark behind the first record is part of the name of another field.
  const [, later] = recordsOf('data: 1\n\n\ufeffdata: 1\ndata: {"a":1}\n\n');
  assertEquals(withNumber(later), { event: null, data: '{"a":20}', raw: null });
});

Deno.test("edits of several lines may come in any order", () => {
  const [record] = recordsOf('data: {"a":1,\ndata: "b":2,\ndata: "c":3}\n\n');
  assert(record !== undefined);
  const edits = ["1", "2", "3"].map((number) => {
    const start = record.data.indexOf(number);
    return { start, end: start + 1, text: `${number}0` };
  });
  const wanted = 'data: {"a":10,\ndata: "b":20,\ndata: "c":30}\n\n';
  assertEquals(editRecord(record, edits).raw, wanted);
  assertEquals(editRecord(record, edits.toReversed()).raw, wanted);
});

const LINES = ["data: 1", "data:  2", "data:", "data", ": a", "event: x", "other", "\ufeffdata: 3"];

Deno.test("the received text of an edited record has its edited data, whatever its lines are", () => {
  const line = fc.tuple(fc.constantFrom(...LINES), fc.constantFrom("\n", "\r\n", "\r"));
  const cuts = fc.tuple(fc.nat(9), fc.nat(9)).map((cut) => cut.toSorted((a, b) => a - b));
  fc.assert(fc.property(fc.array(line, { minLength: 1, maxLength: 6 }), cuts, (lines, cut) => {
    const end = lines.at(-1)?.[1] ?? "";
    const [record] = recordsOf(`${lines.flat().join("")}${end}: another record\n\n`);
    assert(record !== undefined);
    const [start = 0, stop = 0] = cut.map((at) => Math.min(at, record.data.length));
    const edited = editRecord(record, [{ start, end: stop, text: "xyz" }]);
    const wanted = `${record.data.slice(0, start)}xyz${record.data.slice(stop)}`;
    assertEquals(edited.data, wanted);
    const fields = lines.map(([text], index) => index === 0 ? text.replace("\ufeff", "") : text);
    const isBare = fields.includes("data");
    if (!isBare && fields.some((text) => text.startsWith("data:"))) assert(edited.raw !== null);
    assertEquals(
      recordsOf(edited.raw ?? sseText([{ ...edited, raw: null }]))[0]?.data,
      wanted,
    );
  }));
});
