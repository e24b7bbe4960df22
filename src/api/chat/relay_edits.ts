import { isFilledText, isObject, type JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import type { NumberReader } from "../../wires/compat/text_enums.ts";
import { extractReasoning } from "../reasoning/reasoning_tags.ts";
import {
  changeMembers,
  type Edit,
  type Entry,
  findMember,
  findValue,
  parseElements,
  parseMembers,
  type Span,
} from "../../formats/edit.ts";

/** A change to one member of an object: its new JSON text, or null to remove the member. */
export type Change = readonly [key: string, valueText: string | null];

/** Returns the change of an element of `tool_calls` by a reader of its arguments. */
export function numbersBack({ function: called }: JsonObject, reader: NumberReader): Change[] {
  if (!isObject(called) || typeof called.arguments !== "string") return [];
  const text = reader.push(called.arguments);
  return text === called.arguments
    ? []
    : [["function", JSON.stringify({ ...called, arguments: text })]];
}

/** Changes to one element of the `tool_calls` of a choice, by the indexes of both. */
export interface CallChange {
  readonly choice: number;
  readonly item: number;
  readonly changes: readonly Change[];
}

/** Identity fields that every record of one response holds. */
export interface Identity {
  readonly id: string;
  readonly object: "chat.completion" | "chat.completion.chunk";
  readonly created: number;
  readonly model: string;
}

/** Returns the identity of the first record, with missing fields from `fallback`. */
export function identityOf(value: JsonObject, fallback: Identity): Identity {
  return {
    id: isFilledText(value.id) ? value.id : fallback.id,
    object: fallback.object,
    // Records without a choice may come first, with 0 as `created`.
    created: typeof value.created === "number" && value.created > 0
      ? value.created
      : fallback.created,
    model: isFilledText(value.model) ? value.model : fallback.model,
  };
}

/**
 * Returns the identity members that a response lacks. `newIdentity` is called only if it lacks one.
 */
export function missingMembers(value: JsonObject, newIdentity: () => Identity): Entry[] {
  const isWhole = isFilledText(value.id) && isFilledText(value.object) &&
    isFilledText(value.model) &&
    typeof value.created === "number";
  if (isWhole) return [];
  const identity = newIdentity();
  const missing: Entry[] = [];
  if (!isFilledText(value.id)) missing.push(["id", JSON.stringify(identity.id)]);
  if (!isFilledText(value.object)) missing.push(["object", JSON.stringify(identity.object)]);
  if (typeof value.created !== "number") missing.push(["created", String(identity.created)]);
  if (!isFilledText(value.model)) missing.push(["model", JSON.stringify(identity.model)]);
  return missing;
}

/** Returns the changes to a record so that all records of a stream have the same id and time. */
export function identityChanges(value: JsonObject, identity: Identity): Change[] {
  const changes: Change[] = [];
  if (value.id !== identity.id) changes.push(["id", JSON.stringify(identity.id)]);
  if (value.created !== identity.created) changes.push(["created", String(identity.created)]);
  if (!isFilledText(value.object)) changes.push(["object", JSON.stringify(identity.object)]);
  if (!isFilledText(value.model)) changes.push(["model", JSON.stringify(identity.model)]);
  return changes;
}

/** Returns the change to a record that names a model other than this one; none without it. */
export function modelChanges({ model }: JsonObject, shown: string | undefined): Change[] {
  return shown === undefined || !isFilledText(model) || model === shown
    ? []
    : [["model", JSON.stringify(shown)]];
}

/** True if a usage object has no `total_tokens`. */
export function lacksTotal(usage: JsonObject): boolean {
  return typeof usage.total_tokens !== "number";
}

/**
 * Returns a usage object with `total_tokens` added; null if it is present or the sum is unknown.
 */
export function completedUsage(text: string, usage: JsonObject): string | null {
  const { prompt_tokens: input, completion_tokens: output } = usage;
  if (!lacksTotal(usage)) return null;
  if (typeof input !== "number" || typeof output !== "number") return null;
  const [edit] = changeMembers(0, parseMembers(text), [["total_tokens", String(input + output)]]);
  return edit === undefined ? null : text.slice(0, edit.start) + edit.text + text.slice(edit.end);
}

/**
 * Returns the edits that move `<think>` regions of each choice's content to `reasoning_content`.
 */
export function reasoningEdits(
  text: string,
  value: JsonObject,
  part: "message" | "delta",
): Edit[] {
  const choices = Array.isArray(value.choices) ? value.choices : [];
  const messages = choices.map((choice) => isObject(choice) ? choice[part] : undefined);
  const extracted = messages.map((message) =>
    isObject(message) && typeof message.content === "string"
      ? extractReasoning(message.content)
      : null
  );
  if (extracted.every((one) => one === null)) return [];
  // Looked for once for all choices: from the beginning for each would take quadratic time.
  const list = findValue(text, ["choices"]);
  const spans = list === null ? [] : parseElements(text, list.start);
  return extracted.flatMap((one, index) => {
    const message = messages[index];
    const choice = spans[index];
    if (one === null || choice === undefined || !isObject(message)) return [];
    const member = findMember(text, choice.start, part);
    if (member === undefined) return [];
    const before = typeof message.reasoning_content === "string" ? message.reasoning_content : "";
    return changeMembers(member.start, parseMembers(text, member.start), [
      ["content", JSON.stringify(one.content)],
      ["reasoning_content", JSON.stringify(before + one.reasoning)],
    ]);
  });
}

/** Returns the edits of tool calls, which must be in order. Each choice is searched once. */
export function callEdits(
  text: string,
  part: "message" | "delta",
  calls: readonly CallChange[],
): Edit[] {
  if (calls.length === 0) return [];
  const list = findValue(text, ["choices"]);
  const choices = list === null ? [] : parseElements(text, list.start);
  const edits: Edit[] = [];
  let listed = -1;
  let items: readonly Span[] = [];
  for (const { choice, item, changes } of calls) {
    if (choice !== listed) items = callsIn(text, choices[choice], part);
    listed = choice;
    const span = items[item];
    if (span === undefined) continue;
    pushAll(edits, changeMembers(span.start, parseMembers(text, span.start), changes));
  }
  return edits;
}

function callsIn(text: string, choice: Span | undefined, part: string): readonly Span[] {
  const member = (start: number | undefined, key: string) =>
    start === undefined ? undefined : findMember(text, start, key);
  const list = member(member(choice?.start, part)?.start, "tool_calls");
  return list === undefined ? [] : parseElements(text, list.start);
}
