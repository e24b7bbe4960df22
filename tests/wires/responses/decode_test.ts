import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { decodeText } from "./encoded_request.ts";

const INVALID = "invalid_upstream_response";

function response(more: JsonObject): string {
  const plain = { id: "resp_1", object: "response", status: "completed", output: [] };
  return JSON.stringify({ ...plain, ...more });
}

Deno.test("fields missing from a response are left out", () => {
  assertEquals<unknown>(valueOf(decodeText(response({}))), [
    { type: "start", id: "resp_1", model: "", created: 1_700_000_000 },
    { type: "finish", reason: "stop" },
  ]);
});

Deno.test("missing counts are zero, and a missing total is their sum", () => {
  const usage = { input_tokens: 3, output_tokens: 4 };
  assertEquals<unknown>(valueOf(decodeText(response({ usage, service_tier: "flex" })))[1], {
    type: "usage",
    usage: {
      input: 3,
      output: 4,
      total: 7,
      cached: 0,
      cacheWrite: 0,
      reasoning: 0,
      serviceTier: "flex",
    },
  });
  const details = {
    total_tokens: 9,
    input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
    output_tokens_details: { reasoning_tokens: 3 },
  };
  assertEquals<unknown>(valueOf(decodeText(response({ usage: { ...usage, ...details } })))[1], {
    type: "usage",
    usage: { input: 3, output: 4, total: 9, cached: 1, cacheWrite: 2, reasoning: 3 },
  });
});

Deno.test("an incomplete or malformed response is a failure", () => {
  const broken: readonly JsonObject[] = [
    { output: null },
    { output: {} },
    { output: [null] },
    { id: null },
    { id: 1 },
    { id: "" },
    { id: "resp_1 " },
    { object: null },
    { object: "chat.completion" },
    { output: [{ type: "file_search_call", id: "fs_1", queries: [] }] },
    { output: [{ type: "custom_tool_call", call_id: "c", name: "f" }] },
    { output: [{ type: "custom_tool_call", call_id: "c", name: "f", arguments: "" }] },
    { output: [{ type: "function_call", call_id: "c", name: "f" }] },
    { output: [{ type: "message", content: null }] },
    { output: [{ type: "message", content: [null] }] },
    { output: [{ type: "message", content: [{ type: "output_text" }] }] },
    { output: [{ type: "reasoning", summary: [{ type: "summary_text" }] }] },
    { output: [{ type: "message", content: [{ type: "output_text", text: "", logprobs: {} }] }] },
    { output: [{ type: "message", content: [{ type: "output_text", text: "", logprobs: [1] }] }] },
    { moderation: "fine" },
    { moderation: { input: { type: "moderation_result" } } },
    { status: null },
    { status: "queued" },
    { status: "in_progress" },
    { status: "cancelled" },
    { status: "incomplete" },
    { status: "incomplete", incomplete_details: { reason: "new" } },
  ];
  for (const more of broken) assertFailed(decodeText(response(more)), INVALID);
});

Deno.test("an error takes precedence over unsupported content", () => {
  const output = [{ type: "mcp_call" }];
  const error = { code: "rate_limit_exceeded", message: "Slow down." };
  for (const status of ["failed", "completed"]) {
    assertFailed(decodeText(response({ status, output, error })), "upstream_throttled");
  }
  assertFailed(decodeText(response({ status: "failed", output })), "upstream_unavailable");
  assertFailed(decodeText(JSON.stringify({ error })), "upstream_throttled");
});

Deno.test("a search item has no event, because its results are in the text", () => {
  const output = [
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } },
    { type: "message", content: [{ type: "output_text", text: "So" }] },
  ];
  assertEquals<unknown>(valueOf(decodeText(response({ output }))).slice(1), [
    { type: "text", delta: "So" },
    { type: "finish", reason: "stop" },
  ]);
});

Deno.test("a custom tool call is decoded with its type and unchanged input", () => {
  const output = [{ type: "custom_tool_call", call_id: "c", name: "f", input: " {" }];
  assertEquals<unknown>(valueOf(decodeText(response({ output }))).slice(1), [
    { type: "tool_call", index: 0, id: "c", name: "f", kind: "custom" },
    { type: "tool_arguments", index: 0, delta: " {" },
    { type: "finish", reason: "tool_calls" },
  ]);
});

Deno.test("moderation results become lists with one result, and errors stay unchanged", () => {
  const input = { type: "moderation_result", model: "o", flagged: true };
  const output = { type: "error", code: "c", message: "m" };
  assertEquals<unknown>(
    valueOf(decodeText(response({ moderation: { input, output } }))).at(-1),
    {
      type: "finish",
      reason: "stop",
      moderation: {
        input: { type: "moderation_results", model: "o", results: [input] },
        output,
      },
    },
  );
});

Deno.test("two calls with one ID are two calls", () => {
  const call = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" };
  const events = valueOf(decodeText(response({ output: [call, { ...call, name: "g" }] })));
  assertEquals<unknown>(events.slice(1, -1), [
    { type: "tool_call", index: 0, id: "c1", name: "f" },
    { type: "tool_arguments", index: 0, delta: "{}" },
    { type: "tool_call", index: 1, id: "call_id", name: "g" },
    { type: "tool_arguments", index: 1, delta: "{}" },
  ]);
});
