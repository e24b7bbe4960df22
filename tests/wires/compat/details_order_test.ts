import { parseDocument } from "../../../src/formats/document.ts";
import { decode } from "../../../src/wires/compat/decode.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

Deno.test("the details of a message, and its signatures, come before the call that needs them", () => {
  const signature = { google: { thought_signature: "s" } };
  const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
  const message = {
    role: "assistant",
    content: null,
    reasoning_details: [{ type: "reasoning.encrypted", data: "x" }],
    tool_calls: [{ ...call, extra_content: signature }],
  };
  const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
  const document = parseDocument(JSON.stringify({ id: "c", choices }));
  assert(document.ok);
  const events = decode(document.value, scriptedWorld());
  assert(events.ok);
  const types = events.value.map((event) =>
    event.type === "reasoning_item" ? event.value.type : event.type
  );
  assertEquals(types.slice(0, 4), ["start", "reasoning_details", "extra_content", "tool_call"]);
});
