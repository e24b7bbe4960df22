import { isObject, type JsonValue, parseJson } from "../../src/core/json/json.ts";
import { at, list, numberAt, sseRecords, textAt } from "./records.ts";

/** The meaning of an answer in any API: what must be the same for the client and the upstream. */
export interface Answer {
  readonly text: string;
  /** Each call of a function: its name and its arguments as JSON. */
  readonly calls: readonly string[];
  /** Null if the answer does not report them. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Why the answer ends: `end`, `calls` of functions, `length`, or another word of the format. */
  readonly reason: string | null;
  /** True if the answer has its regular end. */
  readonly isComplete: boolean;
  /** Code or type of the error in the answer; null without one. */
  readonly error: string | null;
}

/** A format of answers. `local` is only spoken by upstreams. */
export type Format = "chat" | "messages" | "responses" | "local";

/** Reads an answer, whole or streamed. It shares no code with the gateway's own readers. */
export function readAnswer(format: Format, type: string, body: string): Answer {
  const records = type.startsWith("text/event-stream")
    ? sseRecords(body)
    : format === "local"
    ? body.split("\n").filter((line) => line !== "").map((line) => parseJson(line))
    : [parseJson(body)];
  const isStream = type.startsWith("text/event-stream");
  switch (format) {
    case "chat":
      return readChat(records, isStream ? body.trimEnd().endsWith("data: [DONE]") : true, isStream);
    case "messages":
      return isStream ? readMessagesStream(records) : readMessage(records[0]);
    case "responses":
      return isStream ? readResponsesStream(records) : readResponse(records[0]);
    case "local":
      return readLocal(records);
  }
}

function callText(name: JsonValue | undefined, args: JsonValue | undefined): string {
  const value = typeof args === "string" ? parseJson(args === "" ? "{}" : args) : args;
  return `${textAt(name)} ${JSON.stringify(value)}`;
}

function errorOf(value: JsonValue | undefined): string | null {
  const error = at(value, "error");
  if (typeof error === "string") return error;
  if (!isObject(error)) return null;
  const { code, type } = error;
  return typeof code === "string" ? code : typeof type === "string" ? type : "error";
}

/** The words of the formats for the regular ends of an answer. */
const REASONS: Readonly<Record<string, string>> = {
  stop: "end",
  end_turn: "end",
  completed: "end",
  tool_calls: "calls",
  tool_use: "calls",
  max_tokens: "length",
  max_output_tokens: "length",
};

/** Returns the reason of an end; two formats have no word for calls of functions. */
function reasonOf(word: JsonValue | undefined, calls: readonly string[]): string | null {
  if (typeof word !== "string") return null;
  const reason = REASONS[word] ?? word;
  return reason === "end" && calls.length > 0 ? "calls" : reason;
}

type Records = readonly (JsonValue | undefined)[];

function firstError(records: Records): string | null {
  return records.map(errorOf).find((error) => error !== null) ?? null;
}

function readChat(records: Records, hasEnd: boolean, isStream: boolean): Answer {
  const part = isStream ? "delta" : "message";
  let text = "";
  const calls = new Map<number, { name: string; args: string }>();
  for (const record of records) {
    const message = at(record, "choices", 0, part);
    text += textAt(at(message, "content"));
    for (const [position, call] of list(at(message, "tool_calls")).entries()) {
      const index = numberAt(at(call, "index")) ?? position;
      const { name, args } = calls.get(index) ?? { name: "", args: "" };
      calls.set(index, {
        name: name + textAt(at(call, "function", "name")),
        args: args + textAt(at(call, "function", "arguments")),
      });
    }
  }
  const usage = records.map((record) => at(record, "usage")).findLast(isObject);
  const finish = records.map((record) => at(record, "choices", 0, "finish_reason"))
    .find((one) => typeof one === "string");
  const texts = [...calls.values()].map(({ name, args }) => callText(name, args));
  return {
    text,
    calls: texts,
    reason: reasonOf(finish, texts),
    inputTokens: numberAt(at(usage, "prompt_tokens")),
    outputTokens: numberAt(at(usage, "completion_tokens")),
    isComplete: hasEnd && finish !== undefined,
    error: firstError(records),
  };
}

function readMessage(message: JsonValue | undefined): Answer {
  const content = list(at(message, "content"));
  const calls = content.filter((block) => at(block, "type") === "tool_use")
    .map((block) => callText(at(block, "name"), at(block, "input")));
  return {
    text: content.map((block) => textAt(at(block, "text"))).join(""),
    calls,
    reason: reasonOf(at(message, "stop_reason"), calls),
    inputTokens: numberAt(at(message, "usage", "input_tokens")),
    outputTokens: numberAt(at(message, "usage", "output_tokens")),
    isComplete: typeof at(message, "stop_reason") === "string",
    error: errorOf(message),
  };
}

function readMessagesStream(records: Records): Answer {
  let text = "";
  const calls = new Map<number, { name: JsonValue | undefined; args: string }>();
  for (const record of records) {
    const index = numberAt(at(record, "index")) ?? 0;
    text += textAt(at(record, "delta", "text"));
    if (at(record, "content_block", "type") === "tool_use") {
      calls.set(index, { name: at(record, "content_block", "name"), args: "" });
    }
    const call = calls.get(index);
    if (call !== undefined) call.args += textAt(at(record, "delta", "partial_json"));
  }
  const usages = records.map((record) =>
    isObject(at(record, "message", "usage")) ? at(record, "message", "usage") : at(record, "usage")
  );
  const last = (name: string) =>
    usages.map((usage) => numberAt(at(usage, name))).findLast((count) => count !== null) ?? null;
  const texts = [...calls.values()].map(({ name, args }) => callText(name, args));
  const stop = records.map((record) => at(record, "delta", "stop_reason"))
    .find((one) => typeof one === "string");
  return {
    text,
    calls: texts,
    reason: reasonOf(stop, texts),
    inputTokens: last("input_tokens"),
    outputTokens: last("output_tokens"),
    isComplete: at(records.at(-1), "type") === "message_stop" && stop !== undefined,
    error: firstError(records),
  };
}

function readResponse(response: JsonValue | undefined): Answer {
  const output = list(at(response, "output"));
  const calls = output.filter((item) => at(item, "type") === "function_call")
    .map((item) => callText(at(item, "name"), at(item, "arguments")));
  const incomplete = at(response, "incomplete_details", "reason");
  return {
    text: output.flatMap((item) => list(at(item, "content")))
      .map((content) => textAt(at(content, "text"))).join(""),
    calls,
    reason: reasonOf(incomplete ?? at(response, "status"), calls),
    inputTokens: numberAt(at(response, "usage", "input_tokens")),
    outputTokens: numberAt(at(response, "usage", "output_tokens")),
    isComplete: at(response, "status") === "completed",
    error: errorOf(response),
  };
}

/**
 * Reads the deltas of a response. They must be the text and the arguments of the final one if there is
 * one, and the events must be numbered in their order (Responses API, streaming).
 */
export function readResponsesStream(records: Records): Answer {
  const last = records.at(-1);
  const final = readResponse(at(last, "response"));
  const deltas = records.filter((record) => at(record, "type") === "response.output_text.delta")
    .map((record) => textAt(at(record, "delta"))).join("");
  const args = new Map<JsonValue | undefined, string>();
  for (const record of records) {
    if (at(record, "type") !== "response.function_call_arguments.delta") continue;
    const item = at(record, "output_index");
    args.set(item, (args.get(item) ?? "") + textAt(at(record, "delta")));
  }
  const streamed = list(at(last, "response", "output"))
    .flatMap((item, index) =>
      at(item, "type") === "function_call" ? [callText(at(item, "name"), args.get(index))] : []
    );
  const isNumbered = records.every((record, index) => at(record, "sequence_number") === index);
  const isComplete = at(last, "type") === "response.completed" && final.isComplete &&
    final.text === deltas && isNumbered && final.calls.join("\n") === streamed.join("\n");
  const failure = records.find((record) => at(record, "type") === "error");
  const error = failure === undefined
    ? final.error
    : textAt(at(failure, "code")) || errorOf(failure) || "error";
  return { ...final, text: deltas, isComplete, error };
}

function readLocal(records: Records): Answer {
  const last = records.at(-1);
  const calls = records.flatMap((record) => list(at(record, "message", "tool_calls")))
    .map((call) => callText(at(call, "function", "name"), at(call, "function", "arguments")));
  return {
    text: records.map((record) => textAt(at(record, "message", "content"))).join(""),
    calls,
    reason: reasonOf(at(last, "done_reason"), calls),
    inputTokens: numberAt(at(last, "prompt_eval_count")),
    outputTokens: numberAt(at(last, "eval_count")),
    isComplete: at(last, "done") === true,
    error: firstError(records),
  };
}
