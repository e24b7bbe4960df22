import fc from "fast-check";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import type { ResponsePromise } from "../../../src/prompt/response_promise.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { PROMISES, verify } from "./verified.ts";

const piece = fc.constantFrom(
  "a",
  " ",
  "\n",
  "{",
  "}",
  '{"n":1}',
  "{}",
  "E",
  "EN",
  "D",
  "END",
  ",",
  "",
);

const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  { weight: 4, arbitrary: piece.map((delta): StreamEvent => ({ type: "text", delta })) },
  piece.map((delta): StreamEvent => ({ type: "reasoning", delta })),
  fc.record({
    index: fc.nat(3),
    name: fc.constantFrom("f", "g", "h"),
    text: piece,
    isWhole: fc.boolean(),
  })
    .map(({ index, name, text, isWhole }): StreamEvent => {
      const begun = { type: "tool_call", index, id: `c${index}`, name } as const;
      return isWhole ? { ...begun, arguments: text } : begun;
    }),
  fc.record({ index: fc.nat(3), delta: piece })
    .map((given): StreamEvent => ({ type: "tool_arguments", ...given })),
);

const finish = fc.constantFrom("stop", "length", "tool_calls", "content_filter")
  .map((reason): StreamEvent => ({ type: "finish", reason }));

const response = fc.tuple(fc.array(event, { maxLength: 12 }), finish)
  .map(([events, last]) => [...events, last]);

const { strict, required, limited, single, json, schema, jsonOrCalls } = PROMISES;
const unchanging = fc.subarray<ResponsePromise>([
  strict,
  required,
  limited,
  single,
  json,
  schema,
  jsonOrCalls,
], {
  minLength: 1,
});

Deno.test("for any events, the verified events are the same ones or a failure, and each kind is counted once", () => {
  fc.assert(fc.property(unchanging, response, fc.boolean(), (promises, events, isStream) => {
    const { result, counted, groups } = verify(promises, events, isStream);
    if (result.ok) {
      assertEquals<unknown>(result.value, events);
      const kinds = new Set(promises.map(({ kind }) => kind));
      assertEquals<unknown>(counted, [...kinds].map((kind) => `${kind} kept`));
    } else {
      assertEquals(counted.length, 1);
      // What was returned before the failure is the start of the response.
      const before = groups.flat();
      assertEquals<unknown>(before, events.slice(0, before.length));
    }
  }));
});

Deno.test("a stream and a whole response have the same result", () => {
  fc.assert(fc.property(unchanging, response, (promises, events) => {
    assertEquals(
      verify(promises, events, true).result.ok,
      verify(promises, events, false).result.ok,
    );
  }));
});

function textIn(events: readonly StreamEvent[]): string {
  return events.map((one) => one.type === "text" ? one.delta : "").join("");
}

Deno.test("for any pieces, the text ends exactly before the stop text that is complete first", () => {
  const stops = fc.array(
    fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 }),
    {
      minLength: 1,
      maxLength: 3,
    },
  );
  const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c", "d"), maxLength: 5 }));
  fc.assert(fc.property(stops, pieces, fc.boolean(), (texts, parts, isStream) => {
    const whole = parts.join("");
    const ends = texts.flatMap((text) => {
      const at = whole.indexOf(text);
      return at < 0 ? [] : [at + text.length];
    });
    const end = Math.min(...ends);
    const starts = texts.filter((text) => whole.slice(0, end).endsWith(text))
      .map((text) => end - text.length);
    const expected = ends.length === 0 ? whole : whole.slice(0, Math.min(...starts));
    const events: StreamEvent[] = parts.map((delta) => ({ type: "text", delta }));
    const { result } = verify(
      [{ kind: "stop", path: "stop", texts }],
      [...events, { type: "finish", reason: "length" }],
      isStream,
    );
    assert(result.ok);
    assertEquals(textIn(result.value), expected);
    const stopText = whole.slice(expected.length, end);
    const ending = ends.length === 0 ? { reason: "length" } : { reason: "stop", stopText };
    assertEquals<unknown>(result.value.at(-1), { type: "finish", ...ending });
  }));
});

Deno.test("the text of a response in any pieces becomes the same call or a failure", () => {
  const text = fc.constantFrom('{"n":1}', ' {"n": [1]} ', "{}", "x{}", "{", "[]", "");
  fc.assert(fc.property(text, fc.array(fc.nat(12)), (whole, cuts) => {
    const at = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
    const events = at.slice(1).map((to, index): StreamEvent => {
      return { type: "text", delta: whole.slice(at[index], Math.max(to, at[index] ?? 0)) };
    });
    const last: StreamEvent = { type: "finish", reason: "stop" };
    const pieces = verify([PROMISES.textCall], [...events, last]);
    const once = verify([PROMISES.textCall], [{ type: "text", delta: textIn(events) }, last]);
    assertEquals<unknown>(pieces.result, once.result);
  }));
});
