import type { JsonObject } from "../core/json.ts";
import { readLocal } from "./local_request.ts";
import { type Ask, type Chunk, complain, type Script, type Stage } from "./voice.ts";
import type { ToolCall, Voice } from "./voice.ts";

/** The voice of a local runtime. */
export const LOCAL: Voice = {
  streamType: "application/x-ndjson",
  read: readLocal,
  answer,
  records,
  error: ({ message }) => ({ error: message }),
  unknownModel: (model) => complain(`model '${model}' not found`, { status: 404 }),
  record: (_event, data) => `${data}\n`,
};

function answer(script: Script, ask: Ask, stage: Stage): JsonObject {
  const message: JsonObject = { role: "assistant", content: script.text.join("") };
  if (script.thinking.length > 0) message.thinking = script.thinking.join("");
  if (script.calls.length > 0) {
    message.tool_calls = script.calls.map((call, index) => callOf(call, index, stage));
  }
  return { ...head(ask, stage), message, ...ending(script, ask) };
}

function* records(script: Script, ask: Ask, stage: Stage): Generator<Chunk> {
  for (const thinking of script.thinking) {
    yield part({ content: "", thinking }, ask, stage);
  }
  for (const content of script.text) yield part({ content }, ask, stage);
  for (const [index, call] of script.calls.entries()) {
    yield part({ content: "", tool_calls: [callOf(call, index, stage)] }, ask, stage);
  }
  const last = { message: { role: "assistant", content: "" }, ...ending(script, ask) };
  yield { text: line({ ...head(ask, stage), ...last }), word: false };
}

function part(increment: JsonObject, ask: Ask, stage: Stage): Chunk {
  const message = { role: "assistant", ...increment };
  return { text: line({ ...head(ask, stage), message, done: false }), word: true };
}

function line(value: JsonObject): string {
  return LOCAL.record("", JSON.stringify(value));
}

function head(ask: Ask, stage: Stage) {
  return { model: ask.shownModel, created_at: nanoseconds(stage.unix()) };
}

/** A time in seconds since 1970 as the runtime writes it, to the nanosecond. */
export function nanoseconds(unix: number): string {
  return new Date(unix * 1000).toISOString().replace("Z", "000000Z");
}

function callOf({ name, input }: ToolCall, index: number, stage: Stage): JsonObject {
  const id = `call_${stage.uuid().slice(0, 8)}`;
  return { id, function: { index, name, arguments: input } };
}

// A call of a tool, a refusal and a filter all end with `stop`: the runtime has no words for them.
function ending({ finish, output }: Script, ask: Ask): JsonObject {
  const counts: JsonObject = {};
  // Counts of zero are left out (local API, answer).
  if (ask.input > 0) counts.prompt_eval_count = ask.input;
  if (output > 0) counts.eval_count = output;
  return {
    done: true,
    done_reason: ask.loadOnly ? "load" : finish === "length" ? "length" : "stop",
    total_duration: 3000,
    load_duration: 1000,
    prompt_eval_duration: 1000,
    eval_duration: 1000,
    ...counts,
  };
}
