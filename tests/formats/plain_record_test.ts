import fc from "fast-check";
import { isComment, plainRecord } from "../../src/formats/plain_record.ts";
import { newSseFraming, sseText } from "../../src/formats/sse.ts";
import type { StreamRecord } from "../../src/core/stream/reply.ts";
import { assert, assertEquals } from "../support/assert.ts";

function recordOf(text: string): StreamRecord {
  const framing = newSseFraming();
  const [record, ...others] = [...framing.push(text), ...framing.end()];
  assert(record !== undefined && others.length === 0, text);
  return record;
}

const PLAIN = [
  'data: {"a":1}\n\n',
  'data:{"a":1}\n\n',
  'data:  {"a":1} \n\n',
  'data: {"a":1}\r\n\r\n',
  'data: {"a":1}\n\r\n',
  'data: {"a":1}\r\n\n',
  '\n\ndata: {"a":1}\n\n',
  ': why\ndata: {"a":1}\n: not\n\n',
  '\ufeffdata: {"a":1}\n\n',
  ': why\r\ndata: {"a":1}\r\n\r\n',
];

Deno.test("a record with one data line, also besides comments, is returned with its received bytes", () => {
  for (const text of PLAIN) {
    const record = recordOf(text);
    assertEquals(plainRecord(record), record);
    assertEquals(sseText([plainRecord(record)]), text);
  }
});

const OTHER = [
  'event: message\ndata: {"a":1}\n\n',
  'data: {"a":1}\nid: 7\n\n',
  'retry: 5\ndata: {"a":1}\n\n',
  'other: x\ndata: {"a":1}\n\n',
  'event\ndata: {"a":1}\n\n',
  'data: {"a"\ndata: :1}\n\n',
  'data: {"a":1}\ndata\n\n',
  'data\ndata: {"a":1}\n\n',
  'data: {"a":1}\r\r',
  'data: {"a":1}\r\n\r',
  ': why\rdata: {"a":1}\n\n',
];

Deno.test("every other record is written as one data line with the same JSON", () => {
  for (const text of OTHER) {
    assertEquals(sseText([plainRecord(recordOf(text))]), 'data: {"a":1}\n\n', text);
  }
});

Deno.test("a record with changed JSON is written as one data line", () => {
  const record = recordOf('data: {"a":1}\n\n');
  assertEquals(sseText([plainRecord(record, '{"a":\n2}')]), 'data: {"a":2}\n\n');
});

Deno.test("a record of comments alone is distinguished from empty data and from fields without data", () => {
  for (const text of [": hi\n\n", ":\n\n", ": a\r\n: b\r\n\r\n", "\n: a\n\n", "\ufeff: a\n\n"]) {
    assertEquals(isComment(recordOf(text)), true, text);
  }
  for (const text of ["data:\n\n", "data\n\n", "event: ping\n\n", "id: 1\n\n", ": a\r\r"]) {
    assertEquals(isComment(recordOf(text)), false, text);
  }
  assertEquals(isComment(recordOf(": a\ndata:\n\n")), false);
  assertEquals(isComment({ event: null, data: "", raw: null }), false);
});

const LINES = ["data: 1", "data:", "data", ":", ": a", "", "event: x", "other", " data: 1"];

Deno.test("a record is plain if all its lines are comments but one of data, and end in LF or CRLF", () => {
  const line = fc.tuple(fc.constantFrom(...LINES), fc.constantFrom("\n", "\n", "\r\n", "\r"));
  fc.assert(fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
    const raw = lines.map((parts) => parts.join("")).join("");
    const record = { event: null, data: "1", raw };
    const isKnown = raw.endsWith("\n") &&
      raw.split(/\r?\n/).every((text) => !text.includes("\r") && /^(:|data:|$)/.test(text));
    const count = raw.split(/\r?\n/).filter((text) => text.startsWith("data:")).length;
    assertEquals(plainRecord(record) === record, isKnown && count === 1, JSON.stringify(raw));
    assertEquals(isComment({ ...record, data: "" }), isKnown && count === 0, JSON.stringify(raw));
  }));
});
