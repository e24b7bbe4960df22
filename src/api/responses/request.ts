import { z } from "zod";
import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonDocument, type JsonObject } from "../../core/json.ts";
import { type Failed, refuse, type Result, success } from "../../core/result.ts";
import { either, flag, list, map, number, object, text } from "../field_kinds.ts";
import { checkFields } from "../fields.ts";
import { hasKeyTwice } from "../../formats/document.ts";
import { membersOf } from "../../formats/edit.ts";
import { exactBody } from "./exact.ts";
import { identifierProblem as identifierAt } from "../identifier.ts";

/** A request to create a response, its known fields checked for their types; a null is absent. */
export interface ResponsesRequest {
  readonly document: JsonDocument;
  /** As asked for; empty when it is left to the route. */
  readonly model: string;
  readonly stream: boolean;
  readonly store: boolean;
  /** The new items, as sent, numbers by their text; a text is one user message. */
  readonly input: readonly JsonObject[];
  readonly previousResponseId: string | null;
  /** The id, whichever way it was given. */
  readonly conversation: string | null;
}

const textOrObject = either("a string or an object", "string", "object");

const responsesBody = z.looseObject({
  model: text,
  input: either("a string or an array of items", "string", "array"),
  instructions: text,
  stream: flag,
  stream_options: z.looseObject({ include_obfuscation: flag }).nullish(),
  store: flag,
  previous_response_id: text,
  conversation: textOrObject,
  background: flag,
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tool_choice: textOrObject,
  parallel_tool_calls: flag,
  max_tool_calls: number,
  max_output_tokens: number,
  temperature: number,
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  top_logprobs: number,
  text: z.looseObject({
    format: z.looseObject({ type: z.string() }).nullish(),
    verbosity: text,
  }).nullish(),
  reasoning: z.looseObject({
    effort: text,
    summary: text,
    generate_summary: text,
    mode: text,
    context: text,
  }).nullish(),
  truncation: text,
  include: z.array(z.string()).nullish(),
  "include[]": z.array(z.string()).nullish(),
  metadata: map,
  client_metadata: map,
  prompt: z.looseObject({ id: z.string(), version: text, variables: map }).nullish(),
  context_management: list,
  service_tier: text,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  prompt_cache_retention: text,
  prompt_cache_options: object,
  moderation: object,
});

const inputList = z.looseObject({ input: z.array(z.looseObject({})) });
const conversationObject = z.looseObject({ conversation: z.looseObject({ id: z.string() }) });

/**
 * A request to create a response whose known fields have their documented types, else a refusal by
 * path. Without `input` there must be something that brings it (OpenAI API, Responses).
 */
export function responsesRequest(document: JsonDocument): Result<ResponsesRequest> {
  const request = warmUpRequest(document);
  return request.ok ? inputProblem(document.value) ?? request : request;
}

/** The same for a request that is not to be answered: its input may be empty or come later. */
export function warmUpRequest(document: JsonDocument): Result<ResponsesRequest> {
  const { value } = document;
  const problem = checkFields(responsesBody, value) ??
    (Array.isArray(value.input) ? checkFields(inputList, value) : null) ??
    (isObject(value.conversation) ? checkFields(conversationObject, value) : null) ??
    referencesProblem(document) ?? itemIdProblem(value);
  if (problem !== null) return problem;
  const { model } = value;
  const { input } = exactBody(document);
  return success({
    document,
    model: typeof model === "string" ? model : "",
    stream: value.stream === true,
    store: value.store !== false,
    input: itemsOf(input),
    ...referencesOf(value),
  });
}

/** What a body refers to, by id; null where it does not. */
export function referencesOf(
  value: JsonObject,
): Pick<ResponsesRequest, "previousResponseId" | "conversation"> {
  const { previous_response_id: previous } = value;
  return {
    previousResponseId: typeof previous === "string" ? previous : null,
    conversation: conversationOf(value).id,
  };
}

function itemsOf(input: JsonObject[string]): readonly JsonObject[] {
  if (typeof input === "string") {
    return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
  }
  return Array.isArray(input) ? input.filter(isObject) : [];
}

function conversationOf({ conversation }: JsonObject): {
  readonly id: string | null;
  readonly path: string;
} {
  if (typeof conversation === "string") return { id: conversation, path: "conversation" };
  const id = isObject(conversation) ? conversation.id : null;
  return { id: typeof id === "string" ? id : null, path: "conversation.id" };
}

/** The ids inside the items; whether they are there at all is for their type to say. */
function itemIdProblem({ input }: JsonObject): Failed<Refusal> | null {
  for (const [index, item] of (Array.isArray(input) ? input : []).entries()) {
    for (const member of ["id", "call_id"]) {
      const id = isObject(item) ? item[member] ?? null : null;
      const path = `input[${index}].${member}`;
      if (id === null) continue;
      if (typeof id !== "string") {
        return refuse("invalid_type", `The field '${path}' must be a string.`, path);
      }
      const problem = identifierAt(id, path);
      if (problem !== null) return problem;
    }
  }
  return null;
}

/** The refusal of a body whose references are no identifiers or exclude each other; else null. */
export function referencesProblem(document: JsonDocument): Failed<Refusal> | null {
  const { value } = document;
  const conversation = conversationOf(value);
  const previous = value.previous_response_id ?? null;
  for (const { id, path } of [{ id: previous, path: "previous_response_id" }, conversation]) {
    const problem = typeof id === "string" ? identifierAt(id, path) : null;
    if (problem !== null) return problem;
  }
  if (hasConversationKeyTwice(document)) {
    return refuse("invalid_json", "The field 'conversation' holds a key more than once.");
  }
  if (previous === null || conversation.id === null) return null;
  return refuse(
    "invalid_parameter_combination",
    "Send either 'previous_response_id' or 'conversation', not both.",
    "conversation",
  );
}

/** Its id decides whose it is: no upstream may read another one from the same text. */
function hasConversationKeyTwice({ text, value, members }: JsonDocument): boolean {
  const member = members.find(({ key }) => key === "conversation");
  if (member === undefined || !isObject(value.conversation)) return false;
  return hasKeyTwice(membersOf(text, member.start), value.conversation);
}

function inputProblem(value: JsonObject): Failed<Refusal> | null {
  const { input } = value;
  const isGiven = (key: string) => (value[key] ?? null) !== null;
  const isBlank = typeof input === "string"
    ? input.trim() === ""
    : Array.isArray(input)
    ? input.length === 0
    : !["previous_response_id", "conversation", "prompt"].some(isGiven);
  return isBlank
    ? refuse("missing_required_parameter", "'input' must hold a text or items.", "input")
    : null;
}
