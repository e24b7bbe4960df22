import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { encodeMessages } from "./encoded_request.ts";

function calling(...calls: readonly JsonObject[]) {
  return { role: "assistant", content: null, tool_calls: calls };
}

const CUSTOM = { id: "c", type: "custom", custom: { name: "run", input: " {" } };
const FUNCTION = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
const RESULT = { role: "tool", tool_call_id: "c", content: "4" };

Deno.test("the result of a call has the type of the last call with its ID", () => {
  const call = { type: "custom_tool_call", call_id: "c", name: "run", input: " {" };
  const output = { type: "custom_tool_call_output", call_id: "c", output: "4" };
  const messages = [calling(CUSTOM), RESULT, calling(FUNCTION), RESULT];
  assertEquals<unknown>(valueOf(encodeMessages(messages)), [
    call,
    output,
    { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output: "4" },
  ]);
});

function cited(start_index: JsonValue, end_index: JsonValue = 9): JsonObject {
  const url_citation = { url: "https://a.example", title: "A", start_index, end_index };
  return { type: "url_citation", url_citation };
}

function flat(start_index: number, end_index: number) {
  return { type: "url_citation", url: "https://a.example", title: "A", start_index, end_index };
}

/** Returns the parts of the single item of an assistant message with citations. */
function partsOf(message: JsonObject): unknown {
  const [item] = [valueOf(encodeMessages([{ role: "assistant", ...message }]))].flat();
  return typeof item === "object" && item !== null && "content" in item ? item.content : null;
}

function text(given: string, ...annotations: readonly unknown[]) {
  return { type: "output_text", text: given, annotations, logprobs: [] };
}

Deno.test("citations are moved to the text part in which they start", () => {
  const two = [{ type: "text", text: "One. " }, { type: "text", text: "Two." }];
  const cases: readonly (readonly [message: JsonObject, parts: unknown])[] = [
    [{ content: "One.", annotations: [cited(0, 3)] }, [text("One.", flat(0, 3))]],
    [{ content: "A", annotations: [cited(7)] }, [text("A", flat(7, 9))]],
    [{ content: two, annotations: [cited(5, 8), cited(4, 6)] }, [
      text("One. ", flat(4, 6)),
      text("Two.", flat(0, 3)),
    ]],
    [{ content: two, annotations: [cited(99, 100)] }, [text("One. "), text("Two.", flat(94, 95))]],
    [{ content: "A", refusal: "No.", annotations: [cited(0, 1)] }, [
      text("A", flat(0, 1)),
      { type: "refusal", refusal: "No." },
    ]],
  ];
  for (const [message, parts] of cases) assertEquals<unknown>(partsOf(message), parts);
});

Deno.test("annotations that cannot be translated are refused with their path", () => {
  const bare = (url_citation: unknown) => ({ type: "url_citation", url_citation });
  const cases: readonly [Parameters<typeof assertFailed>[1], unknown, string][] = [
    ["invalid_type", {}, ""],
    ["invalid_type", [1], "[0]"],
    ["unsupported_feature", [{ type: "file_citation" }], "[0].type"],
    ["unsupported_feature", [{ ...cited(0), x: 1 }], "[0].x"],
    ["invalid_type", [bare(null)], "[0].url_citation"],
    ["unsupported_feature", [bare({ x: 1 })], "[0].url_citation.x"],
    ["missing_required_parameter", [bare({ title: "A" })], "[0].url_citation.url"],
    ["invalid_type", [bare({ url: "u", title: 1 })], "[0].url_citation.title"],
    ["invalid_type", [cited("0")], "[0].url_citation.start_index"],
    ["invalid_value", [cited(-1)], "[0].url_citation.start_index"],
    ["invalid_type", [cited(0, 0.5)], "[0].url_citation.end_index"],
  ];
  for (const [kind, annotations, path] of cases) {
    const message = { role: "assistant", content: "A", annotations };
    assertFailed(encodeMessages([message]), kind, `messages[0].annotations${path}`);
  }
});

Deno.test("a citation without text is refused", () => {
  const annotations = [cited(0)];
  for (const given of [{ content: "" }, { content: null, refusal: "No." }, { content: [] }]) {
    const message = { role: "assistant", ...given, annotations, tool_calls: [FUNCTION] };
    const { ok } = encodeMessages([message]);
    assertEquals(ok, false);
  }
  const refusal = [{ type: "refusal", refusal: "No." }];
  assertFailed(
    encodeMessages([{ role: "assistant", content: refusal, annotations }]),
    "unsupported_feature",
    "messages[0].annotations",
  );
});
