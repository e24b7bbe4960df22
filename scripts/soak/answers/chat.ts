import { isObject, type JsonValue } from "../../../src/core/json/json.ts";
import {
  type Answer,
  callText,
  type Choice,
  firstError,
  reasonOf,
  type Records,
} from "./answer.ts";
import { at, list, numberAt, textAt } from "./json_at.ts";

/** A choice as far as its records have been read. */
interface Draft {
  text: string;
  reasoning: string;
  finish: JsonValue | undefined;
  readonly calls: Map<number, { id: string; name: string; args: string }>;
}

/** Reads a chat completion; `hasEnd` says that the end marker of a stream has come. */
export function readChat(records: Records, hasEnd: boolean, isStream: boolean): Answer {
  const drafts = new Map<number, Draft>();
  for (const record of records) {
    for (const choice of list(at(record, "choices"))) {
      const index = numberAt(at(choice, "index")) ?? 0;
      const draft = drafts.get(index) ??
        { text: "", reasoning: "", finish: undefined, calls: new Map() };
      drafts.set(index, draft);
      addTo(draft, at(choice, isStream ? "delta" : "message"));
      const finish = at(choice, "finish_reason");
      if (typeof finish === "string") draft.finish ??= finish;
    }
  }
  const choices = [...drafts].toSorted(([one], [other]) => one - other)
    .map(([, draft]) => newChoice(draft));
  const [first = { text: "", reasoning: "", calls: [], reason: null }, ...further] = choices;
  const usage = records.map((record) => at(record, "usage")).findLast(isObject);
  return {
    ...first,
    furtherChoices: further,
    inputTokens: numberAt(at(usage, "prompt_tokens")),
    outputTokens: numberAt(at(usage, "completion_tokens")),
    isComplete: hasEnd && choices.length > 0 && choices.every(({ reason }) => reason !== null),
    error: firstError(records),
  };
}

function addTo(draft: Draft, message: JsonValue | undefined): void {
  draft.text += textAt(at(message, "content"));
  draft.reasoning += textAt(at(message, "reasoning_content"));
  for (const [position, call] of list(at(message, "tool_calls")).entries()) {
    const index = numberAt(at(call, "index")) ?? position;
    const { id, name, args } = draft.calls.get(index) ?? { id: "", name: "", args: "" };
    draft.calls.set(index, {
      id: id + textAt(at(call, "id")),
      name: name + textAt(at(call, "function", "name")),
      args: args + textAt(at(call, "function", "arguments")),
    });
  }
}

function newChoice({ text, reasoning, calls, finish }: Draft): Choice {
  const texts = [...calls.values()].map(({ id, name, args }) => callText(id, name, args));
  return { text, reasoning, calls: texts, reason: reasonOf(finish) };
}
