import type { JsonObject } from "../core/json/json.ts";
import { parseLocalRequest } from "./local_request.ts";
import {
  type Deps,
  type ModelOutput,
  newApiError,
  type Protocol,
  type SimRequest,
  type StreamChunk,
  type ToolCall,
} from "./protocol.ts";

/** The protocol of a local runtime. */
export const LOCAL: Protocol = {
  streamType: "application/x-ndjson",
  parseRequest: parseLocalRequest,
  encodeWhole,
  encodeStream,
  encodeError: ({ message }) => ({ error: message }),
  unknownModelError: (model) => newApiError(`model '${model}' not found`, { status: 404 }),
  encodeRecord: (_event, data) => `${data}\n`,
};

function encodeWhole(output: ModelOutput, request: SimRequest, deps: Deps): JsonObject {
  const message: JsonObject = { role: "assistant", content: output.text.join("") };
  if (output.thinking.length > 0) message.thinking = output.thinking.join("");
  if (output.toolCalls.length > 0) {
    message.tool_calls = output.toolCalls.map((call, index) => encodeToolCall(call, index, deps));
  }
  return { ...recordFields(request, deps), message, ...finalFields(output, request) };
}

function* encodeStream(
  output: ModelOutput,
  request: SimRequest,
  deps: Deps,
): Generator<StreamChunk> {
  for (const thinking of output.thinking) {
    yield encodeChunk({ content: "", thinking }, request, deps);
  }
  for (const content of output.text) yield encodeChunk({ content }, request, deps);
  for (const [index, call] of output.toolCalls.entries()) {
    yield encodeChunk(
      { content: "", tool_calls: [encodeToolCall(call, index, deps)] },
      request,
      deps,
    );
  }
  const last = { message: { role: "assistant", content: "" }, ...finalFields(output, request) };
  yield { text: jsonLine({ ...recordFields(request, deps), ...last }), isWord: false };
}

function encodeChunk(increment: JsonObject, request: SimRequest, deps: Deps): StreamChunk {
  const message = { role: "assistant", ...increment };
  return { text: jsonLine({ ...recordFields(request, deps), message, done: false }), isWord: true };
}

function jsonLine(value: JsonObject): string {
  return LOCAL.encodeRecord("", JSON.stringify(value));
}

function recordFields(request: SimRequest, deps: Deps) {
  return { model: request.modelAsSent, created_at: toNanosecondTime(deps.unix()) };
}

/** Formats a time in Unix seconds as the runtime does, with nanoseconds. */
export function toNanosecondTime(unix: number): string {
  return new Date(unix * 1000).toISOString().replace("Z", "000000Z");
}

function encodeToolCall({ name, input }: ToolCall, index: number, deps: Deps): JsonObject {
  const id = `call_${deps.uuid().slice(-8)}`;
  return { id, function: { index, name, arguments: input } };
}

// The runtime has no separate reason for tool calls, refusals and filters: all end with `stop`.
function finalFields({ finish, outputTokens }: ModelOutput, request: SimRequest): JsonObject {
  const counts: JsonObject = {};
  // The runtime omits counts of zero (local API, answer).
  if (request.inputTokens > 0) counts.prompt_eval_count = request.inputTokens;
  if (outputTokens > 0) counts.eval_count = outputTokens;
  return {
    done: true,
    done_reason: request.loadOnly ? "load" : finish === "length" ? "length" : "stop",
    total_duration: 3000,
    load_duration: 1000,
    prompt_eval_duration: 1000,
    eval_duration: 1000,
    ...counts,
  };
}
