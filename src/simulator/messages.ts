import { newId } from "../core/ids.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { readMessages } from "./messages_request.ts";
import { signatureOf } from "./signature.ts";
import { type Ask, type Chunk, complain, type Script, type Stage, type Voice } from "./voice.ts";
import { fragmentsOf } from "./words.ts";

/** The voice of a Messages upstream. */
export const MESSAGES: Voice = {
  streamType: "text/event-stream",
  read: readMessages,
  answer,
  records,
  error: ({ status, message }, stage) => ({
    type: "error",
    error: { type: typeFor(status), message },
    request_id: newId("req_", stage),
  }),
  unknownModel: (model) => complain(`model: ${model}`, { status: 404 }),
  record: (event, data) => `event: ${event}\ndata: ${data}\n\n`,
};

const TYPES: ReadonlyMap<number, string> = new Map([
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

function typeFor(status: number): string {
  return TYPES.get(status) ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

function answer(script: Script, ask: Ask, stage: Stage): JsonObject {
  return {
    ...head(ask, stage),
    content: blocksOf(script, stage),
    ...ending(script),
    usage: { ...inputOf(ask), ...outputOf(script) },
  };
}

function blocksOf(script: Script, stage: Stage): JsonObject[] {
  const thinking = script.thinking.join("");
  const text = textOf(script).join("");
  return [
    ...thinking === "" ? [] : [{ type: "thinking", thinking, signature: signatureOf(thinking) }],
    ...text === "" ? [] : [{ type: "text", text, citations: null }],
    ...script.calls.map(({ name, input }) => ({
      type: "tool_use",
      id: newId("toolu_", stage),
      name,
      input,
    })),
  ];
}

// A refusal is told by the stop reason and its details, and has no text of its own.
function textOf({ text, finish }: Script): readonly string[] {
  return finish === "refusal" ? [] : text;
}

function ending(script: Script): JsonObject {
  const details = script.finish === "refusal"
    ? { type: "refusal", category: null, explanation: script.text.join("") }
    : script.finish === "content_filter"
    ? { type: "refusal", category: "general_harms", explanation: null }
    : null;
  return { stop_reason: stopReason(script), stop_sequence: null, stop_details: details };
}

function stopReason({ finish }: Script): string {
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

function* records(script: Script, ask: Ask, stage: Stage): Generator<Chunk> {
  const message = {
    ...head(ask, stage),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...inputOf(ask), output_tokens: 1 },
  };
  yield event({ type: "message_start", message });
  yield event({ type: "ping" });
  let index = 0;
  for (const block of blocksOf(script, stage)) {
    yield event({ type: "content_block_start", index, content_block: opened(block) });
    for (const delta of deltasOf(block, script)) {
      // A signature and the empty first fragment of an input are no words.
      const word = delta.type !== "signature_delta" && delta.partial_json !== "";
      yield event({ type: "content_block_delta", index, delta }, word);
    }
    yield event({ type: "content_block_stop", index });
    index++;
  }
  yield event({ type: "message_delta", delta: ending(script), usage: outputOf(script) });
  yield event({ type: "message_stop" });
}

function event(data: JsonObject & { readonly type: string }, word = false): Chunk {
  return { text: MESSAGES.record(data.type, JSON.stringify(data)), word };
}

function opened(block: JsonObject): JsonObject {
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return block.type === "text" ? { ...block, text: "" } : { ...block, input: {} };
}

function deltasOf(block: JsonObject, script: Script): readonly JsonObject[] {
  if (block.type === "thinking") {
    const pieces = script.thinking.map((thinking) => ({ type: "thinking_delta", thinking }));
    return [...pieces, { type: "signature_delta", signature: block.signature }];
  }
  if (block.type === "text") return textOf(script).map((text) => ({ type: "text_delta", text }));
  // A tool without arguments sends no more than the empty first fragment.
  const isEmpty = !isObject(block.input) || Object.keys(block.input).length === 0;
  const pieces = isEmpty ? [] : fragmentsOf(JSON.stringify(block.input));
  return ["", ...pieces].map((partial_json) => ({ type: "input_json_delta", partial_json }));
}

function head(ask: Ask, stage: Stage) {
  return { id: newId("msg_", stage), type: "message", role: "assistant", model: ask.shownModel };
}

function inputOf(ask: Ask): JsonObject {
  return {
    input_tokens: ask.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
}

function outputOf({ output, thinking }: Script): JsonObject {
  const details = { output_tokens_details: { thinking_tokens: thinking.length } };
  return { output_tokens: output, ...thinking.length === 0 ? {} : details };
}
