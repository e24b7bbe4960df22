import { isObject, type JsonValue } from "../../../src/core/json/json.ts";
import { type Answer, callText, errorOf, firstError, reasonOf, type Records } from "./answer.ts";
import { at, list, numberAt, textAt } from "./json_at.ts";

/** Reads a whole message. */
export function readMessage(message: JsonValue | undefined): Answer {
  const content = list(at(message, "content"));
  const calls = content.filter((block) => at(block, "type") === "tool_use")
    .map((block) => callText(at(block, "id"), at(block, "name"), at(block, "input")));
  const joined = (name: string) => content.map((block) => textAt(at(block, name))).join("");
  return {
    text: joined("text"),
    reasoning: joined("thinking"),
    calls,
    reason: reasonOf(at(message, "stop_reason")),
    furtherChoices: [],
    inputTokens: numberAt(at(message, "usage", "input_tokens")),
    outputTokens: numberAt(at(message, "usage", "output_tokens")),
    isComplete: typeof at(message, "stop_reason") === "string",
    error: errorOf(message),
  };
}

/** Reads the events of a streamed message. */
export function readMessagesStream(records: Records): Answer {
  const calls = new Map<
    number,
    { id: JsonValue | undefined; name: JsonValue | undefined; args: string }
  >();
  for (const record of records) {
    const index = numberAt(at(record, "index")) ?? 0;
    const block = at(record, "content_block");
    if (at(block, "type") === "tool_use") {
      calls.set(index, { id: at(block, "id"), name: at(block, "name"), args: "" });
    }
    const call = calls.get(index);
    if (call !== undefined) call.args += textAt(at(record, "delta", "partial_json"));
  }
  const joined = (name: string) =>
    records.map((record) => textAt(at(record, "delta", name))).join("");
  const usages = records.map((record) =>
    isObject(at(record, "message", "usage")) ? at(record, "message", "usage") : at(record, "usage")
  );
  const last = (name: string) =>
    usages.map((usage) => numberAt(at(usage, name))).findLast((count) => count !== null) ?? null;
  const texts = [...calls.values()].map(({ id, name, args }) => callText(id, name, args));
  const stop = records.map((record) => at(record, "delta", "stop_reason"))
    .find((one) => typeof one === "string");
  return {
    text: joined("text"),
    reasoning: joined("thinking"),
    calls: texts,
    reason: reasonOf(stop),
    furtherChoices: [],
    inputTokens: last("input_tokens"),
    outputTokens: last("output_tokens"),
    isComplete: at(records.at(-1), "type") === "message_stop" && stop !== undefined,
    error: firstError(records),
  };
}
