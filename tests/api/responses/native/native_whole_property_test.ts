import fc from "fast-check";
import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { relayed } from "./native_stream.ts";

/** The words of the terminals, and the statuses that go with them. */
const TERMINALS = {
  completed: "completed",
  incomplete: "incomplete",
  failed: "failed",
  cancelled: "canceled",
  canceled: "cancelled",
} as const;

/** How one event is written: by no JSON writer in particular. */
const SPELLING = fc.record({
  indent: fc.constantFrom(0, 1, "\t"),
  escapes: fc.boolean(),
  named: fc.boolean(),
  gap: fc.constantFrom("", " "),
  before: fc.constantFrom("", ": ping\n\n", "data:\n\n", "id: 5\n", "retry: 10\n", "\n"),
});

const EVENT = fc.record({
  type: fc.constantFrom("response.in_progress", "response.output_text.delta", "of.tomorrow"),
  step: fc.integer({ min: 1, max: 1000 }),
  nested: fc.boolean(),
  named: fc.boolean(),
  extra: fc.dictionary(fc.stringMatching(/^x[a-z]{1,5}$/), fc.jsonValue(), { maxKeys: 3 }),
  spelling: SPELLING,
});

const STREAM = fc.record({
  id: fc.string({ minLength: 1, unit: "grapheme" }).filter((id) => id === id.trim()),
  lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
  first: fc.nat(1000),
  begins: fc.option(SPELLING),
  events: fc.array(EVENT, { maxLength: 8 }),
  terminal: fc.constantFrom("completed", "incomplete", "failed", "cancelled", "canceled"),
  ends: SPELLING,
  readSize: fc.integer({ min: 1, max: 300 }),
});

type Spelling = typeof SPELLING extends fc.Arbitrary<infer T> ? T : never;

function recordOf(event: JsonObject, { indent, escapes, named, gap, before }: Spelling): string {
  const text = JSON.stringify(event, null, indent);
  const spelled = escapes ? text.replaceAll('"response', '"resp\\u006fnse') : text;
  const lines = spelled.split("\n").map((line) => `data:${gap}${line}\n`);
  return `${before}${named ? `event: ${event.type}\n` : ""}${lines.join("")}\n`;
}

Deno.test("a valid native stream is forwarded unchanged up to its terminal event", async () => {
  let most = 0;
  const property = fc.asyncProperty(STREAM, async (stream) => {
    const { id, lineEnd, first, begins, events, terminal: word, ends, readSize } = stream;
    const records: string[] = [];
    let number = first;
    const response = { id, object: "response", status: "in_progress" };
    if (begins !== null) {
      const created = { type: "response.created", sequence_number: number++, response };
      records.push(recordOf(created, begins));
    }
    for (const { type, step, nested, named, extra, spelling } of events) {
      number += step;
      records.push(recordOf({
        type,
        sequence_number: number,
        ...nested && { response },
        ...named && { response_id: id },
        ...extra,
      }, spelling));
    }
    const terminal = { ...response, status: TERMINALS[word] };
    const last = { type: `response.${word}`, sequence_number: number + 1, response: terminal };
    const sent = [...records, recordOf(last, ends)].join("").replaceAll("\n", lineEnd);
    most = Math.max(most, records.length);
    const behind = `data: {"type":"of.tomorrow","sequence_number":${number + 2}}${
      lineEnd.repeat(2)
    }`;
    const answer = await relayed(sent + behind, { readSize });
    assertEquals([answer.refused, answer.broken, answer.text], [null, null, sent]);
    assertEquals<unknown>(answer.outcome?.resource?.id, id);
  });
  await fc.assert(property, { numRuns: 200 });
  assert(most > 4, "no stream was long");
});
