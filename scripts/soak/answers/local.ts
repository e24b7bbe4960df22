import { type Answer, callText, firstError, reasonWithCalls, type Records } from "./answer.ts";
import { at, list, numberAt, textAt } from "./json_at.ts";

/** Reads what a local upstream has said, in one record or in several. */
export function readLocal(records: Records): Answer {
  const last = records.at(-1);
  const calls = records.flatMap((record) => list(at(record, "message", "tool_calls")))
    .map((call) =>
      callText(at(call, "id"), at(call, "function", "name"), at(call, "function", "arguments"))
    );
  const joined = (name: string) =>
    records.map((record) => textAt(at(record, "message", name))).join("");
  return {
    text: joined("content"),
    reasoning: joined("thinking"),
    calls,
    reason: reasonWithCalls(at(last, "done_reason"), calls),
    furtherChoices: [],
    inputTokens: numberAt(at(last, "prompt_eval_count")),
    outputTokens: numberAt(at(last, "eval_count")),
    isComplete: at(last, "done") === true,
    error: firstError(records),
  };
}
