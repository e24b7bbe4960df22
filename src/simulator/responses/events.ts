import type { JsonObject } from "../../core/json.ts";
import { contentOf, itemOf, type Part } from "./parts.ts";
import { unfinished } from "./resource.ts";

/** One event of a stream. */
export interface Said {
  /** With its type and its number. */
  readonly event: JsonObject;
  /** It carries a word; pauses stand before these and breakage is counted in them. */
  readonly word: boolean;
}

/** All events of the stream of an answer, numbered from 0 (Responses API, streaming). */
export function eventsOf(resource: JsonObject, parts: readonly Part[]): readonly Said[] {
  return [...unnumbered(resource, parts)].map(({ event: { type, ...rest }, word }, number) => ({
    event: { type, sequence_number: number, ...rest },
    word,
  }));
}

function* unnumbered(resource: JsonObject, parts: readonly Part[]): Generator<Said> {
  const queued = resource.background === true;
  const opening = unfinished(resource, queued ? "queued" : "in_progress");
  yield told("response.created", { response: opening });
  if (queued) yield told("response.queued", { response: opening });
  yield told("response.in_progress", { response: unfinished(resource, "in_progress") });
  for (const [at, part] of parts.entries()) {
    const last = at === parts.length - 1 && resource.status !== "completed";
    const item = itemOf(part, last ? "incomplete" : "completed");
    yield told("response.output_item.added", { output_index: at, item: opened(item) });
    yield* body(part, { item_id: part.id, output_index: at });
    yield told("response.output_item.done", { output_index: at, item });
  }
  yield told(`response.${resource.status}`, { response: resource });
}

function told(type: string, fields: JsonObject): Said {
  return { event: { type, ...fields }, word: false };
}

function word(type: string, fields: JsonObject): Said {
  return { event: { type, ...fields }, word: true };
}

function opened(item: JsonObject): JsonObject {
  const { encrypted_content: _sealed, ...start } = item;
  switch (item.type) {
    case "reasoning":
      return { ...start, summary: [] };
    case "message":
      return { ...start, status: "in_progress", content: [] };
    case "function_call":
      return { ...start, status: "in_progress", arguments: "" };
    default:
      return { ...start, status: "in_progress" };
  }
}

function* body(part: Part, place: JsonObject): Generator<Said> {
  switch (part.kind) {
    case "reasoning":
      return yield* summary(part.words, { ...place, summary_index: 0 });
    case "search":
      for (const step of ["in_progress", "searching", "completed"]) {
        yield told(`response.web_search_call.${step}`, place);
      }
      return;
    case "message":
      return yield* message(part, { ...place, content_index: 0 });
    case "call": {
      for (const delta of part.pieces) {
        yield word("response.function_call_arguments.delta", { ...place, delta });
      }
      const whole = { name: part.name, arguments: part.pieces.join("") };
      yield told("response.function_call_arguments.done", { ...place, ...whole });
    }
  }
}

function* summary(words: readonly string[], place: JsonObject): Generator<Said> {
  const name = "response.reasoning_summary";
  const text = words.join("");
  const empty = { type: "summary_text", text: "" };
  yield told(`${name}_part.added`, { ...place, part: empty });
  for (const delta of words) yield word(`${name}_text.delta`, { ...place, delta });
  yield told(`${name}_text.done`, { ...place, text });
  yield told(`${name}_part.done`, { ...place, part: { ...empty, text } });
}

function* message(part: Extract<Part, { kind: "message" }>, place: JsonObject): Generator<Said> {
  const whole = contentOf(part);
  const empty = part.refused ? { refusal: "" } : { text: "", annotations: [] };
  yield told("response.content_part.added", { ...place, part: { ...whole, ...empty } });
  const name = part.refused ? "response.refusal" : "response.output_text";
  const logprobs = part.refused ? {} : { logprobs: [] };
  for (const delta of part.words) yield word(`${name}.delta`, { ...place, delta, ...logprobs });
  for (const [at, annotation] of part.annotations.entries()) {
    yield told(`${name}.annotation.added`, { ...place, annotation_index: at, annotation });
  }
  const text = part.words.join("");
  const value = part.refused ? { refusal: text } : { text, logprobs: [] };
  yield told(`${name}.done`, { ...place, ...value });
  yield told("response.content_part.done", { ...place, part: whole });
}
