import type { JsonValue } from "../../../../src/core/json/json.ts";
import { assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import { fieldsOf, refusalOf, TRANSLATED, translateFields } from "../translated.ts";

const CLEAR = { type: "clear_thinking_20251015", keep: "all" };

const NO_OPS: readonly (readonly [key: string, value: JsonValue])[] = [
  ["context_management", null],
  ["context_management", {}],
  ["context_management", { edits: [] }],
  ["context_management", { edits: [CLEAR] }],
  ["context_management", { edits: [{ ...CLEAR, keep: { type: "all" } }] }],
  ["speed", null],
  ["speed", "standard"],
  ["diagnostics", null],
  ["diagnostics", {}],
  ["diagnostics", { previous_message_id: null }],
  ...[
    ...["container", "inference_geo", "mcp_servers", "fallbacks", "fallback_credit_token"],
    ...["compaction", "thread", "billing_policy", "safeguards", "tags", "brand_new"],
  ].flatMap((key) => [[key, null], [key, []], [key, {}]] as const),
];

const REFUSED: readonly (readonly [key: string, value: JsonValue])[] = [
  ["context_management", { edits: [{ type: "clear_tool_uses_20250919" }] }],
  ["context_management", { edits: [{ ...CLEAR, keep: { type: "thinking_turns", value: 2 } }] }],
  ["context_management", { edits: [{ type: "clear_thinking_20251015" }] }],
  ["context_management", { edits: [CLEAR, { type: "compact" }] }],
  ["speed", "fast"],
  ["diagnostics", { previous_message_id: "msg_1" }],
  ["container", "c"],
  ["inference_geo", "eu"],
  ["mcp_servers", [{ url: "http://a.test" }]],
  ["fallbacks", [{ model: "a" }]],
  ["fallback_credit_token", "a"],
  ["compaction", { type: "auto" }],
  ["thread", { id: "a" }],
  ["billing_policy", { a: 1 }],
  ["safeguards", [{ type: "dangerous_tool_use" }]],
  ["tags", ["a"]],
  ["brand_new", false],
];

for (const [key, value] of NO_OPS) {
  Deno.test(`${key} ${JSON.stringify(value)} asks for nothing and is not sent`, () => {
    for (const wire of TRANSLATED) {
      assertEquals(fieldsOf({ [key]: value }, wire), {});
      assertEquals(valueOf(translateFields({ [key]: value }, wire)).lossy, []);
    }
  });
}

for (const [key, value] of REFUSED) {
  Deno.test(`${key} ${JSON.stringify(value)} is refused by name in the words of the vendor`, () => {
    for (const wire of TRANSLATED) {
      assertEquals(refusalOf(translateFields({ [key]: value }, wire)), [
        "unsupported_feature",
        key,
        `${key}: Extra inputs are not permitted`,
      ]);
    }
  });
}

Deno.test("the key of an unknown field is cut in its refusal", () => {
  const key = "k".repeat(100_000);
  assertEquals(refusalOf(translateFields({ [key]: 1 }))[1], `${"k".repeat(64)}...`);
});

Deno.test("cache_control is dropped without a mark, at the top, in blocks and in tools", () => {
  const cache_control = { type: "ephemeral" };
  const body = {
    cache_control,
    system: [{ type: "text", text: "S", cache_control }],
    messages: [{ role: "user", content: [{ type: "text", text: "hi", cache_control }] }],
    tools: [{ name: "f", input_schema: { type: "object" }, cache_control }],
  };
  for (const wire of TRANSLATED) {
    const { chat, lossy } = valueOf(translateFields(body, wire));
    assertEquals([chat.document.text.includes("cache_control"), lossy], [false, []]);
  }
});
