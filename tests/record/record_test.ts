import { assert, assertEquals } from "../support/assert.ts";
import { Ajv2020, type AnySchema } from "ajv/dist/2020.js";
import { parseRecord, recordJsonSchema } from "../../src/record/record.ts";
import { RECORD_FORMAT } from "../../src/record/record_format.ts";
import { newRecord } from "../support/records.ts";

const validate = new Ajv2020({ strict: false, validateFormats: false })
  .compile(recordJsonSchema() as AnySchema);

Deno.test("a line that was written from a record is read as that record, and is valid by the printed schema", () => {
  const record = newRecord({ previous: { response: "resp_1", record: null } });
  assertEquals(parseRecord(JSON.stringify(record)), { ok: true, record });
  assert(validate(record));
});

Deno.test("a record with the head only is read, and members that this version does not know are left out", () => {
  const { request: _, ...record } = newRecord();
  const later = { ...record, head: { ...record.head, later: 1 }, more: [] };
  assertEquals(parseRecord(JSON.stringify(later)), { ok: true, record });
  assert(validate(later));
});

Deno.test("a record of a version that did not count the items of conversations is read", () => {
  const { head: { conversation_items: _, ...head }, ...record } = newRecord();
  const parsed = parseRecord(JSON.stringify({ ...record, head }));
  assertEquals(parsed.ok && parsed.record.head.conversation_items, null);
});

Deno.test("a line that is no record has a problem that does not quote it", () => {
  const { head, ...rest } = newRecord();
  const lines: readonly (readonly [line: string, problem: string])[] = [
    ["a secret", "is no JSON object"],
    ["[1]", "is no JSON object"],
    [JSON.stringify({ format: "secret" }), `has another format than ${RECORD_FORMAT}`],
    [
      JSON.stringify({ ...rest, head: { ...head, status: "secret" } }),
      "has a value at head.status that the format does not permit",
    ],
    [
      JSON.stringify({ ...rest, head, at: "yesterday" }),
      "has a value at at that the format does not permit",
    ],
  ];
  for (const [line, problem] of lines) assertEquals(parseRecord(line), { ok: false, problem });
  assert(!validate({ ...rest, head: { ...head, status: "secret" } }));
});
