import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { newDocument } from "../../../src/formats/document.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import { local } from "../../../src/wires/local/local.ts";
import { messages } from "../../../src/wires/messages/messages.ts";
import { responses } from "../../../src/wires/responses/responses.ts";
import type { Wire } from "../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { assertFailed, providerOf, targetAt, valueOf } from "../../support/translated.ts";

const USER = { role: "user", content: "Hi" };
const CALL = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
const RESULT = { role: "tool", tool_call_id: "c", content: "1" };

function encoded(wire: Wire, more: JsonObject) {
  const called = { role: "assistant", content: "So", tool_calls: [CALL], ...more };
  const document = newDocument({ messages: [USER, called, RESULT] });
  const provider = providerOf(wire.name === "responses" ? compat : wire);
  return wire.encode({ document, stream: false, includeUsage: false }, targetAt(provider, wire));
}

/** The body that is sent for an assistant message with these members, and the lossy paths. */
function sent(wire: Wire, more: JsonObject) {
  const { payload, lossy = [] } = valueOf(encoded(wire, more));
  const body = parseJson(payload?.text() ?? "");
  assert(isObject(body));
  return { body, lossy };
}

Deno.test("the reasoning of hosts that call it `reasoning` is carried as reasoning_content is", () => {
  for (const wire of [messages, local, responses]) {
    for (const text of ["hm", ""]) {
      const named = sent(wire, { reasoning: text });
      const usual = sent(wire, { reasoning_content: text });
      assertEquals(named.body, usual.body);
      const paths = usual.lossy.map((path) => path.replace("reasoning_content", "reasoning"));
      assertEquals(named.lossy, paths);
    }
    assertFailed(encoded(wire, { reasoning: 1 }), "invalid_type", "messages[1].reasoning");
  }
  assert(JSON.stringify(sent(local, { reasoning: "hm" }).body).includes('"thinking":"hm"'));
  const { body, lossy } = sent(messages, { reasoning: "hm" });
  assertEquals<unknown>([body.thinking, lossy], [{ type: "disabled" }, ["messages[1].reasoning"]]);
});

Deno.test("next to reasoning_content, `reasoning` changes nothing, and is named if it differs", () => {
  for (const wire of [messages, local, responses]) {
    const usual = sent(wire, { reasoning_content: "hm" });
    assertEquals(sent(wire, { reasoning_content: "hm", reasoning: "hm" }), usual);
    const both = sent(wire, { reasoning_content: "hm", reasoning: "oh" });
    assertEquals(both.body, usual.body);
    assertEquals(both.lossy.toSorted(), ["messages[1].reasoning", ...usual.lossy].toSorted());
  }
});

Deno.test("reasoning_details of a host are left out over other protocols, and named", () => {
  for (const wire of [messages, local, responses]) {
    const details = [{ type: "reasoning.encrypted", data: "secret" }];
    const { body, lossy } = sent(wire, { reasoning_details: details });
    assertEquals(lossy, ["messages[1].reasoning_details"]);
    assert(!JSON.stringify(body).includes("secret"));
    assertEquals(sent(wire, { reasoning_details: [] }).lossy, []);
  }
});

Deno.test("thinking blocks are left out over the Responses API, and named", () => {
  const thinking_blocks = [
    { type: "thinking", thinking: "hm", signature: "sig" },
    { type: "redacted_thinking", data: "sig" },
  ];
  const { body, lossy } = sent(responses, { thinking_blocks });
  assertEquals(lossy, ["messages[1].thinking_blocks"]);
  assert(!JSON.stringify(body).includes("sig"));
  assertFailed(
    encoded(local, { thinking_blocks }),
    "unsupported_feature",
    "messages[1].thinking_blocks",
  );
});
