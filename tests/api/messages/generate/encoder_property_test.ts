import fc from "fast-check";
import { sealThinking } from "../../../../src/api/reasoning/sealed_thinking.ts";
import type { StreamEvent } from "../../../../src/core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { call, contentOf, encoded, finish, more, reasoning, text, whole } from "./encoded.ts";

/** Arguments of a call, cut into pieces. */
const ARGUMENTS = fc.tuple(
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
  fc.array(fc.nat(40), { maxLength: 4 }),
  fc.boolean(),
).map(([value, cuts, isBlank]) => {
  const written = isBlank ? "" : JSON.stringify(value);
  const ends = [...new Set(cuts.map((cut) => cut % (written.length + 1)))].toSorted((a, b) =>
    a - b
  );
  const pieces = [0, ...ends].map((start, at) => written.slice(start, ends[at] ?? written.length));
  return { written, pieces };
});

const TURNS = fc.array(
  fc.oneof(fc.string().map(text), fc.string().map(reasoning)),
  { maxLength: 12 },
);

/**
 * Events of up to four calls and of text, in any interleaving that keeps the order of each call.
 */
const STREAMS = fc.tuple(
  fc.array(ARGUMENTS, { maxLength: 4 }),
  TURNS,
  fc.infiniteStream(fc.nat(1000)),
)
  .map(([given, expected, choices]) => {
    const sources: StreamEvent[][] = [
      expected,
      ...given.map(({ pieces }, index) => [call(index), ...pieces.map((one) => more(index, one))]),
    ].map((events) => [...events]);
    const events: StreamEvent[] = [];
    for (const choice of choices) {
      const left = sources.filter(({ length }) => length > 0);
      const next = left[choice % Math.max(left.length, 1)]?.shift();
      if (next === undefined) break;
      events.push(next);
    }
    return { events: [...events, finish()], given, expected };
  });

/**
 * Fails unless the blocks are 0, 1, 2 …, each started once, stopped once, and one open at a time.
 */
function assertOrderly(records: readonly JsonObject[]): void {
  let open: JsonValue | undefined = undefined;
  let started = 0;
  for (const { type, index } of records) {
    if (type === "content_block_start") {
      assertEquals<unknown>([open, index], [undefined, started]);
      open = index;
      started += 1;
    } else if (type === "content_block_delta") {
      assertEquals(index, open);
    } else if (type === "content_block_stop") {
      assertEquals(index, open);
      open = undefined;
    } else {
      assertEquals(open, undefined);
    }
  }
  const types = records.map(({ type }) => type);
  assertEquals(types[0], "message_start");
  assertEquals(types.slice(-2), ["message_delta", "message_stop"]);
  for (const one of ["message_start", "message_delta", "message_stop"]) {
    assertEquals(types.filter((type) => type === one).length, 1);
  }
}

Deno.test("in any interleaving the blocks are 0 to n, each started and stopped once, one open at a time", () => {
  fc.assert(fc.property(STREAMS, ({ events }) => assertOrderly(encoded(events))));
});

Deno.test("in any interleaving all text, thinking and arguments arrive, and calls keep their order", () => {
  fc.assert(fc.property(STREAMS, ({ events, given, expected }) => {
    const content = contentOf(encoded(events));
    const joined = (name: string) => content.map((block) => block[name] ?? "").join("");
    const spoken = (type: string) =>
      expected.map((event) => event.type === type && "delta" in event ? event.delta : "").join("");
    assertEquals(joined("text"), spoken("text"));
    assertEquals(joined("thinking"), spoken("reasoning"));
    const calls = content.filter(({ type }) => type === "tool_use");
    const begun = events.flatMap((event) => event.type === "tool_call" ? [event.index] : []);
    assertEquals<unknown>(
      calls.map(({ id, partial_json }) => [id, partial_json ?? ""]),
      begun.map((index) => [`t${index}`, given[index]?.written ?? ""]),
    );
  }));
});

Deno.test("every run of thinking ends with the seal of its text", () => {
  fc.assert(fc.property(STREAMS, ({ events }) => {
    for (const { type, thinking, signature } of contentOf(encoded(events))) {
      if (type !== "thinking") continue;
      assertEquals<unknown>(signature, sealThinking([{ type, thinking }]));
    }
  }));
});

Deno.test("a whole message has the same blocks as the stream, with parsed arguments", () => {
  fc.assert(fc.property(STREAMS, ({ events }) => {
    const streamed = contentOf(encoded(events)).map(({ partial_json: written, ...block }) =>
      typeof written === "string" ? { ...block, input: JSON.parse(written) } : block
    );
    const { content } = whole(events);
    assert(Array.isArray(content));
    const rank = (block: JsonValue | JsonObject) =>
      ["thinking", "text", "tool_use"].indexOf(isObject(block) ? String(block.type) : "");
    assertEquals(
      JSON.stringify(content),
      JSON.stringify(streamed.toSorted((a, b) => rank(a) - rank(b))),
    );
  }));
});
