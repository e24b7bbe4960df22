import { newId } from "../core/ids.ts";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseMessagesRequest } from "./messages_request.ts";
import { signThinking } from "./hash.ts";
import {
  type Deps,
  type ModelOutput,
  newApiError,
  type Protocol,
  type SimRequest,
  type StreamChunk,
} from "./protocol.ts";
import { splitFragments } from "./tokens.ts";

/** The Messages protocol. */
export const MESSAGES: Protocol = {
  streamType: "text/event-stream",
  parseRequest: parseMessagesRequest,
  encodeWhole,
  encodeStream,
  encodeError: ({ status, message }, deps) => ({
    type: "error",
    error: { type: errorType(status), message },
    request_id: newId("req_", deps),
  }),
  unknownModelError: (model) => newApiError(`model: ${model}`, { status: 404 }),
  encodeRecord: (event, data) => `event: ${event}\ndata: ${data}\n\n`,
};

const ERROR_TYPES: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [409, "conflict_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

function errorType(status: number): string {
  return ERROR_TYPES.get(status) ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

function encodeWhole(output: ModelOutput, request: SimRequest, deps: Deps): JsonObject {
  return {
    ...messageFields(request, deps),
    content: encodeBlocks(output, deps),
    ...stopFields(output),
    usage: { ...inputUsage(request, output), ...outputUsage(output) },
  };
}

function encodeBlocks(output: ModelOutput, deps: Deps): JsonObject[] {
  const thinking = output.thinking.join("");
  const text = visibleText(output).join("");
  return [
    ...thinking === "" ? [] : [{ type: "thinking", thinking, signature: signThinking(thinking) }],
    ...text === "" ? [] : [{ type: "text", text, citations: null }],
    ...output.toolCalls.map(({ name, input }) => ({
      type: "tool_use",
      id: newId("toolu_", deps),
      name,
      input,
    })),
  ];
}

// A refusal has only its stop reason and details, and no text block.
function visibleText({ text, finish }: ModelOutput): readonly string[] {
  return finish === "refusal" ? [] : text;
}

function stopFields(output: ModelOutput): JsonObject {
  const details = output.finish === "refusal"
    ? { type: "refusal", category: null, explanation: output.text.join("") }
    : output.finish === "content_filter"
    ? { type: "refusal", category: "general_harms", explanation: null }
    : null;
  return { stop_reason: stopReason(output), stop_sequence: null, stop_details: details };
}

function stopReason({ finish }: ModelOutput): string {
  switch (finish) {
    case "stop":
      return "end_turn";
    case "length":
      return "max_tokens";
    case "tool_calls":
      return "tool_use";
    case "refusal":
    case "content_filter":
      return "refusal";
  }
}

function* encodeStream(
  output: ModelOutput,
  request: SimRequest,
  deps: Deps,
): Generator<StreamChunk> {
  const message = {
    ...messageFields(request, deps),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...inputUsage(request, output), output_tokens: 1 },
  };
  yield encodeEvent({ type: "message_start", message });
  yield encodeEvent({ type: "ping" });
  let index = 0;
  for (const block of encodeBlocks(output, deps)) {
    yield encodeEvent({ type: "content_block_start", index, content_block: blockAtStart(block) });
    for (const delta of encodeDeltas(block, output)) {
      // A signature and the empty first fragment of an input carry no word.
      const isWord = delta.type !== "signature_delta" && delta.partial_json !== "";
      yield encodeEvent({ type: "content_block_delta", index, delta }, isWord);
    }
    yield encodeEvent({ type: "content_block_stop", index });
    index++;
  }
  yield encodeEvent({
    type: "message_delta",
    delta: stopFields(output),
    usage: outputUsage(output),
  });
  yield encodeEvent({ type: "message_stop" });
}

function encodeEvent(data: JsonObject & { readonly type: string }, isWord = false): StreamChunk {
  return { text: MESSAGES.encodeRecord(data.type, JSON.stringify(data)), isWord };
}

function blockAtStart(block: JsonObject): JsonObject {
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return block.type === "text" ? { ...block, text: "" } : { ...block, input: {} };
}

function encodeDeltas(block: JsonObject, output: ModelOutput): readonly JsonObject[] {
  if (block.type === "thinking") {
    const pieces = output.thinking.map((thinking) => ({ type: "thinking_delta", thinking }));
    return [...pieces, { type: "signature_delta", signature: block.signature }];
  }
  if (block.type === "text") {
    return visibleText(output).map((text) => ({ type: "text_delta", text }));
  }
  // A call without arguments sends only the empty first fragment.
  const isEmpty = !isObject(block.input) || Object.keys(block.input).length === 0;
  const pieces = isEmpty ? [] : splitFragments(JSON.stringify(block.input));
  return ["", ...pieces].map((partial_json) => ({ type: "input_json_delta", partial_json }));
}

function messageFields(request: SimRequest, deps: Deps) {
  return {
    id: newId("msg_", deps),
    type: "message",
    role: "assistant",
    model: request.modelAsSent,
  };
}

function inputUsage({ inputTokens }: SimRequest, { cache: { read, write } }: ModelOutput) {
  return {
    input_tokens: inputTokens - read - write,
    cache_creation_input_tokens: write,
    cache_read_input_tokens: read,
  };
}

function outputUsage({ outputTokens, thinking }: ModelOutput): JsonObject {
  const details = { output_tokens_details: { thinking_tokens: thinking.length } };
  return { output_tokens: outputTokens, ...thinking.length === 0 ? {} : details };
}
