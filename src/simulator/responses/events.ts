import type { JsonObject } from "../../core/json/json.ts";
import { encodeContentPart, encodeItem, type OutputItem } from "./output_items.ts";
import { unfinishedResource } from "./resource.ts";

/** One event of a Responses stream. */
export interface StreamEvent {
  /** The event's JSON, with its type and sequence number. */
  readonly event: JsonObject;
  /** The event carries a word: pauses precede words, and defects are placed by counting them. */
  readonly isWord: boolean;
}

/** Returns all events of a response's stream, numbered from 0 (Responses API, streaming). */
export function buildEvents(
  resource: JsonObject,
  outputItems: readonly OutputItem[],
): readonly StreamEvent[] {
  return [...unnumberedEvents(resource, outputItems)].map((
    { event: { type, ...rest }, isWord },
    number,
  ) => ({
    event: { type, sequence_number: number, ...rest },
    isWord,
  }));
}

function* unnumberedEvents(
  resource: JsonObject,
  outputItems: readonly OutputItem[],
): Generator<StreamEvent> {
  const queued = resource.background === true;
  const opening = unfinishedResource(resource, queued ? "queued" : "in_progress");
  yield newEvent("response.created", { response: opening });
  if (queued) yield newEvent("response.queued", { response: opening });
  yield newEvent("response.in_progress", { response: unfinishedResource(resource, "in_progress") });
  for (const [at, outputItem] of outputItems.entries()) {
    const last = at === outputItems.length - 1 && resource.status !== "completed";
    const item = encodeItem(outputItem, last ? "incomplete" : "completed");
    yield newEvent("response.output_item.added", { output_index: at, item: itemAtStart(item) });
    yield* itemEvents(outputItem, { item_id: outputItem.id, output_index: at });
    yield newEvent("response.output_item.done", { output_index: at, item });
  }
  yield newEvent(`response.${resource.status}`, { response: resource });
}

function newEvent(type: string, fields: JsonObject): StreamEvent {
  return { event: { type, ...fields }, isWord: false };
}

function newWordEvent(type: string, fields: JsonObject): StreamEvent {
  return { event: { type, ...fields }, isWord: true };
}

function itemAtStart(item: JsonObject): JsonObject {
  const { encrypted_content: _sealed, ...start } = item;
  switch (item.type) {
    case "reasoning":
      return { ...start, summary: [] };
    case "message":
      return { ...start, status: "in_progress", content: [] };
    case "function_call":
      return { ...start, status: "in_progress", arguments: "" };
    case "custom_tool_call":
      return { ...start, status: "in_progress", input: "" };
    default:
      return { ...start, status: "in_progress" };
  }
}

function* itemEvents(outputItem: OutputItem, place: JsonObject): Generator<StreamEvent> {
  switch (outputItem.kind) {
    case "reasoning":
      return yield* summaryEvents(outputItem.words, { ...place, summary_index: 0 });
    case "search":
      for (const step of ["in_progress", "searching", "completed"]) {
        yield newEvent(`response.web_search_call.${step}`, place);
      }
      return;
    case "message":
      return yield* messageEvents(outputItem, { ...place, content_index: 0 });
    case "call": {
      const { name, isCustom, pieces } = outputItem;
      const event = isCustom
        ? "response.custom_tool_call_input"
        : "response.function_call_arguments";
      for (const delta of pieces) yield newWordEvent(`${event}.delta`, { ...place, delta });
      const text = pieces.join("");
      const whole = isCustom ? { input: text } : { name, arguments: text };
      yield newEvent(`${event}.done`, { ...place, ...whole });
    }
  }
}

function* summaryEvents(words: readonly string[], place: JsonObject): Generator<StreamEvent> {
  const name = "response.reasoning_summary";
  const text = words.join("");
  const empty = { type: "summary_text", text: "" };
  yield newEvent(`${name}_part.added`, { ...place, part: empty });
  for (const delta of words) yield newWordEvent(`${name}_text.delta`, { ...place, delta });
  yield newEvent(`${name}_text.done`, { ...place, text });
  yield newEvent(`${name}_part.done`, { ...place, part: { ...empty, text } });
}

function* messageEvents(
  outputItem: Extract<OutputItem, { kind: "message" }>,
  place: JsonObject,
): Generator<StreamEvent> {
  const whole = encodeContentPart(outputItem);
  const empty = outputItem.refused ? { refusal: "" } : { text: "", annotations: [] };
  yield newEvent("response.content_part.added", { ...place, part: { ...whole, ...empty } });
  const name = outputItem.refused ? "response.refusal" : "response.output_text";
  const logprobs = outputItem.refused ? {} : { logprobs: [] };
  for (const delta of outputItem.words) {
    yield newWordEvent(`${name}.delta`, { ...place, delta, ...logprobs });
  }
  for (const [at, annotation] of outputItem.annotations.entries()) {
    yield newEvent(`${name}.annotation.added`, { ...place, annotation_index: at, annotation });
  }
  const text = outputItem.words.join("");
  const value = outputItem.refused ? { refusal: text } : { text, logprobs: [] };
  yield newEvent(`${name}.done`, { ...place, ...value });
  yield newEvent("response.content_part.done", { ...place, part: whole });
}
