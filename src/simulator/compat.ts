import { newId } from "../core/ids.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import { readCompat } from "./compat_request.ts";
import { type Ask, type Chunk, complain, type Complaint, type Script } from "./voice.ts";
import type { Stage, ToolCall, Voice } from "./voice.ts";
import { fragmentsOf } from "./words.ts";

/** The voice of a Chat Completions upstream. */
export const COMPAT: Voice = {
  streamType: "text/event-stream",
  read: readCompat,
  answer,
  records,
  error: ({ status, message, param, code }) => ({
    error: { message, type: typeFor(status), param, code: code ?? codeFor(status) },
  }),
  unknownModel: (model) =>
    complain(`The model '${model}' does not exist.`, { status: 404, code: "model_not_found" }),
  record: (_event, data) => `data: ${data}\n\n`,
};

function typeFor(status: number): string {
  if (status >= 500) return "server_error";
  return status === 429 ? "rate_limit_exceeded" : "invalid_request_error";
}

function codeFor(status: number): Complaint["code"] {
  if (status === 401) return "invalid_api_key";
  return status === 429 ? "rate_limit_exceeded" : null;
}

function answer(script: Script, ask: Ask, stage: Stage): JsonObject {
  const choice = () => ({
    finish_reason: finishOf(script),
    message: messageOf(script, stage),
    logprobs: null,
  });
  return {
    ...identified(head("chat.completion", ask, stage), script, 0),
    choices: Array.from({ length: ask.choices }, (_, index) => ({ index, ...choice() })),
    usage: usageOf(script, ask),
  };
}

function messageOf(script: Script, stage: Stage): JsonObject {
  const text = script.text.join("");
  const refused = script.finish === "refusal";
  const message: JsonObject = {
    role: "assistant",
    content: refused || script.calls.length > 0 ? null : text,
    refusal: refused ? text : null,
  };
  if (script.thinking.length > 0) message.reasoning_content = script.thinking.join("");
  if (script.calls.length > 0) message.tool_calls = script.calls.map((call) => whole(call, stage));
  return message;
}

function whole({ name, input }: ToolCall, stage: Stage): JsonObject {
  const called = { name, arguments: JSON.stringify(input) };
  return { id: newId("call_", stage), type: "function", function: called };
}

function* records(script: Script, ask: Ask, stage: Stage): Generator<Chunk> {
  const start: JsonObject = head("chat.completion.chunk", ask, stage);
  if (ask.usageWanted) start.usage = null;
  let chunks = 0;
  for (let index = 0; index < ask.choices; index++) {
    for (const { delta, finish = null, word = false } of deltas(script, stage)) {
      const choice = { index, delta, finish_reason: finish, logprobs: null };
      const chunk = identified({ ...start, choices: [choice] }, script, chunks++);
      yield { text: frame(chunk), word };
    }
  }
  if (ask.usageWanted) {
    const last = { ...start, choices: [], usage: usageOf(script, ask) };
    yield { text: frame(identified(last, script, chunks)), word: false };
  }
  yield { text: "data: [DONE]\n\n", word: false };
}

interface Delta {
  readonly delta: JsonObject;
  readonly finish?: string;
  readonly word?: boolean;
}

function* deltas(script: Script, stage: Stage): Generator<Delta> {
  const content = script.calls.length > 0 || script.finish === "refusal" ? null : "";
  yield { delta: { role: "assistant", content, refusal: null } };
  for (const piece of script.thinking) yield { delta: { reasoning_content: piece }, word: true };
  const kind = script.finish === "refusal" ? "refusal" : "content";
  for (const piece of script.text) yield { delta: { [kind]: piece }, word: true };
  for (const [index, { name, input }] of script.calls.entries()) {
    const id = newId("call_", stage);
    const opening = { index, id, type: "function", function: { name, arguments: "" } };
    yield { delta: { tool_calls: [opening] }, word: true };
    for (const piece of fragmentsOf(JSON.stringify(input))) {
      yield { delta: { tool_calls: [{ index, function: { arguments: piece } }] }, word: true };
    }
  }
  yield { delta: {}, finish: finishOf(script) };
}

function head(object: string, ask: Ask, stage: Stage) {
  const id = newId("chatcmpl-", stage);
  return { id, object, created: stage.unix(), model: ask.shownModel, system_fingerprint: "fp_sim" };
}

/** The identity of an answer, or of the chunk at this place, as the quirk has it. */
function identified(value: JsonObject, { quirk }: Script, at: number): JsonObject {
  if (quirk?.of !== "stored") return value;
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

function frame(value: JsonValue): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function finishOf({ finish }: Script): string {
  return finish === "refusal" ? "stop" : finish;
}

function usageOf(script: Script, ask: Ask): JsonObject {
  const output = script.output * ask.choices;
  return {
    prompt_tokens: ask.input,
    completion_tokens: output,
    total_tokens: ask.input + output,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: script.thinking.length * ask.choices },
  };
}
