import type { JsonValue } from "../../../src/core/json/json.ts";
import { type Answer, callText, errorOf, reasonWithCalls, type Records } from "./answer.ts";
import { at, list, numberAt, textAt } from "./json_at.ts";

/** Reads a whole response. */
export function readResponse(response: JsonValue | undefined): Answer {
  const output = list(at(response, "output"));
  const calls = output.filter((item) => at(item, "type") === "function_call")
    .map((item) => callText(at(item, "call_id"), at(item, "name"), at(item, "arguments")));
  const status = at(response, "status");
  const incomplete = at(response, "incomplete_details", "reason");
  return {
    text: partsText(output, "message", "content"),
    reasoning: partsText(output, "reasoning", "summary") +
      partsText(output, "reasoning", "content"),
    calls,
    reason: reasonWithCalls(incomplete ?? status, calls),
    furtherChoices: [],
    inputTokens: numberAt(at(response, "usage", "input_tokens")),
    outputTokens: numberAt(at(response, "usage", "output_tokens")),
    // One that is cut at its limit says so; otherwise it has another end.
    isComplete: status === "completed" ||
      status === "incomplete" && incomplete === "max_output_tokens",
    error: errorOf(response),
  };
}

/** Returns the texts of a member of all output items of a type. */
function partsText(output: readonly JsonValue[], type: string, member: string): string {
  return output.filter((item) => at(item, "type") === type)
    .flatMap((item) => list(at(item, member)))
    .map((part) => textAt(at(part, "text"))).join("");
}

/** The events with the pieces of a reasoning: of its summary, and of itself. */
const REASONING_DELTAS: readonly string[] = [
  "response.reasoning_summary_text.delta",
  "response.reasoning_text.delta",
];

/**
 * Reads the deltas of a response. They must be the text, the reasoning and the arguments of the
 * final one if there is one, and the events must be numbered in their order (Responses API,
 * streaming).
 */
export function readResponsesStream(records: Records): Answer {
  const last = records.at(-1);
  const final = readResponse(at(last, "response"));
  const text = deltas(records, ["response.output_text.delta"]);
  const reasoning = deltas(records, REASONING_DELTAS);
  const args = new Map<JsonValue | undefined, string>();
  for (const record of records) {
    if (at(record, "type") !== "response.function_call_arguments.delta") continue;
    const item = at(record, "output_index");
    args.set(item, (args.get(item) ?? "") + textAt(at(record, "delta")));
  }
  const begun = new Map(
    records.filter((record) => at(record, "type") === "response.output_item.added")
      .map((record) => [at(record, "output_index"), at(record, "item", "call_id")]),
  );
  const streamed = list(at(last, "response", "output"))
    .flatMap((item, index) =>
      at(item, "type") === "function_call"
        ? [callText(begun.get(index), at(item, "name"), args.get(index))]
        : []
    );
  const isNumbered = records.every((record, index) => at(record, "sequence_number") === index);
  const isComplete = at(last, "type") === `response.${at(last, "response", "status")}` &&
    final.isComplete && final.text === text && final.reasoning === reasoning && isNumbered &&
    final.calls.join("\n") === streamed.join("\n");
  const failure = records.find((record) => at(record, "type") === "error");
  const error = failure === undefined
    ? final.error
    : textAt(at(failure, "code")) || errorOf(failure) || "error";
  return { ...final, text, reasoning, isComplete, error };
}

function deltas(records: Records, types: readonly string[]): string {
  return records.filter((record) => types.includes(textAt(at(record, "type"))))
    .map((record) => textAt(at(record, "delta"))).join("");
}
