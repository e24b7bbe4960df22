import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { newDecoder } from "../../../src/wires/compat/decode.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

const SIGNED = { google: { thought_signature: "s" } };

/** Returns the events of a stream with these pieces of one call. */
function eventsOf(pieces: readonly object[]): readonly StreamEvent[] {
  const decoder = newDecoder(scriptedWorld());
  return pieces.flatMap((piece) => {
    const choices = [{ index: 0, delta: { tool_calls: [{ index: 0, ...piece }] } }];
    const events = decoder.push({
      event: null,
      data: JSON.stringify({ id: "c", choices }),
      raw: null,
    });
    assert(events.ok);
    return events.value;
  });
}

Deno.test("a signature that arrives behind the beginning of its call names it, and comes once", () => {
  const begun = { id: "a", function: { name: "f", arguments: "" } };
  const rest = { function: { arguments: "{}" } };
  const value = { type: "extra_content", signature: SIGNED, call: 0 };
  const signature: StreamEvent = { type: "reasoning_item", value };
  for (
    const pieces of [[begun, { ...rest, extra_content: SIGNED }], [begun, rest, {
      extra_content: SIGNED,
    }]]
  ) {
    const events = eventsOf(pieces).filter(({ type }) =>
      type !== "start" && type !== "tool_arguments"
    );
    assertEquals(events.slice(1), [signature]);
  }
});
