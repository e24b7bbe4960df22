import { newId } from "../core/ids.ts";
import type { JsonObject, JsonValue } from "../core/json/json.ts";
import { parseCompatRequest } from "./compat_request.ts";
import {
  type ApiError,
  type Deps,
  type ModelOutput,
  newApiError,
  type Protocol,
  type SimRequest,
  type StreamChunk,
  type ToolCall,
} from "./protocol.ts";
import { customInput } from "./model_output.ts";
import { splitFragments } from "./tokens.ts";

/** The Chat Completions protocol. */
export const COMPAT: Protocol = {
  streamType: "text/event-stream",
  parseRequest: parseCompatRequest,
  encodeWhole,
  encodeStream,
  encodeError: ({ status, message, param, code }) => ({
    error: { message, type: errorType(status), param, code: code ?? errorCode(status) },
  }),
  unknownModelError: (model) =>
    newApiError(`The model '${model}' does not exist.`, { status: 404, code: "model_not_found" }),
  encodeRecord: (_event, data) => `data: ${data}\n\n`,
};

function errorType(status: number): string {
  if (status >= 500) return "server_error";
  return status === 429 ? "rate_limit_exceeded" : "invalid_request_error";
}

function errorCode(status: number): ApiError["code"] {
  if (status === 401) return "invalid_api_key";
  return status === 429 ? "rate_limit_exceeded" : null;
}

function encodeWhole(output: ModelOutput, request: SimRequest, deps: Deps): JsonObject {
  const choice = () => ({
    finish_reason: finishReason(output),
    message: encodeMessage(output, deps),
    logprobs: null,
  });
  return {
    ...withIdentityQuirk(completionFields("chat.completion", request, deps), output, 0),
    choices: Array.from({ length: request.choiceCount }, (_, index) => ({ index, ...choice() })),
    usage: encodeUsage(output, request),
  };
}

function encodeMessage(output: ModelOutput, deps: Deps): JsonObject {
  const text = output.text.join("");
  const refused = output.finish === "refusal";
  const message: JsonObject = {
    role: "assistant",
    content: refused || output.toolCalls.length > 0 && text === "" ? null : text,
    refusal: refused ? text : null,
  };
  if (output.thinking.length > 0) message.reasoning_content = output.thinking.join("");
  if (output.toolCalls.length > 0) {
    message.tool_calls = output.toolCalls.map((call) => encodeToolCall(call, deps));
  }
  return message;
}

function encodeToolCall(call: ToolCall, deps: Deps): JsonObject {
  return { id: newId("call_", deps), ...calledTool(call, writtenBy(call)) };
}

/** Returns a call without its ID, with all its text or none. */
function calledTool({ name, tool }: ToolCall, text: string): JsonObject {
  return tool?.isCustom === true
    ? { type: "custom", custom: { name, input: text } }
    : { type: "function", function: { name, arguments: text } };
}

function writtenBy(call: ToolCall): string {
  return call.written ??
    (call.tool?.isCustom === true ? customInput(call) : JSON.stringify(call.input));
}

function* encodeStream(
  output: ModelOutput,
  request: SimRequest,
  deps: Deps,
): Generator<StreamChunk> {
  const start: JsonObject = completionFields("chat.completion.chunk", request, deps);
  if (request.includeUsage) start.usage = null;
  let chunks = 0;
  for (let index = 0; index < request.choiceCount; index++) {
    for (const { delta, finish = null, isWord = false } of encodeDeltas(output, deps)) {
      const choice = { index, delta, finish_reason: finish, logprobs: null };
      const chunk = withIdentityQuirk({ ...start, choices: [choice] }, output, chunks++);
      yield { text: sseRecord(chunk), isWord };
    }
  }
  if (request.includeUsage) {
    const last = { ...start, choices: [], usage: encodeUsage(output, request) };
    yield { text: sseRecord(withIdentityQuirk(last, output, chunks)), isWord: false };
  }
  yield { text: "data: [DONE]\n\n", isWord: false };
}

interface Delta {
  readonly delta: JsonObject;
  readonly finish?: string;
  readonly isWord?: boolean;
}

function* encodeDeltas(output: ModelOutput, deps: Deps): Generator<Delta> {
  const silent = output.toolCalls.length > 0 && output.text.length === 0;
  const content = silent || output.finish === "refusal" ? null : "";
  yield { delta: { role: "assistant", content, refusal: null } };
  for (const piece of output.thinking) yield { delta: { reasoning_content: piece }, isWord: true };
  const kind = output.finish === "refusal" ? "refusal" : "content";
  for (const piece of output.text) yield { delta: { [kind]: piece }, isWord: true };
  for (const [index, call] of output.toolCalls.entries()) {
    const id = newId("call_", deps);
    yield { delta: { tool_calls: [{ index, id, ...calledTool(call, "") }] }, isWord: true };
    for (const piece of splitFragments(writtenBy(call))) {
      const added = call.tool?.isCustom === true
        ? { custom: { input: piece } }
        : { function: { arguments: piece } };
      yield { delta: { tool_calls: [{ index, ...added }] }, isWord: true };
    }
  }
  yield { delta: {}, finish: finishReason(output) };
}

function completionFields(object: string, request: SimRequest, deps: Deps) {
  const id = newId("chatcmpl-", deps);
  return {
    id,
    object,
    created: deps.unix(),
    model: request.modelAsSent,
    system_fingerprint: "fp_sim",
  };
}

/** Applies an identity quirk to a completion, or to the chunk with this number. */
function withIdentityQuirk(value: JsonObject, { quirk }: ModelOutput, at: number): JsonObject {
  if (quirk?.kind !== "stored") return value;
  const { id, ...rest } = value;
  switch (quirk.name) {
    case "no-id":
      return rest;
    case "padded-id":
      return { ...value, id: ` ${id} ` };
    case "changing-id":
      return { ...value, id: at === 0 ? id : `${id}${at}` };
    case "wrong-object":
      return { ...value, object: "text_completion" };
  }
}

function sseRecord(value: JsonValue): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function finishReason({ finish }: ModelOutput): string {
  return finish === "refusal" ? "stop" : finish;
}

function encodeUsage(output: ModelOutput, request: SimRequest): JsonObject {
  const tokens = output.outputTokens * request.choiceCount;
  return {
    prompt_tokens: request.inputTokens,
    completion_tokens: tokens,
    total_tokens: request.inputTokens + tokens,
    prompt_tokens_details: { cached_tokens: output.cache.read },
    completion_tokens_details: { reasoning_tokens: output.thinking.length * request.choiceCount },
  };
}
