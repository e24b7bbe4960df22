import { contradiction } from "../../prompt/refusals.ts";
import type { Refusal } from "../../core/failure/failure.ts";
import { isObject, type JsonDocument, type JsonObject, parseExact } from "../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../core/failure/result.ts";
import { hasKeyTwice } from "../../formats/document.ts";
import { parseMembers } from "../../formats/edit.ts";
import { identifierProblem as identifierAt, spellingProblem } from "../stored/identifier.ts";
import { requiredField, typeProblem, wrongField } from "../items/shape.ts";
import { responsesBody } from "./request_shape.ts";

/**
 * Parsed request to create a response: known fields have valid types, and null counts as absent.
 */
export interface ResponsesRequest {
  readonly document: JsonDocument;
  /** The body with numbers in their original text; `numberOf` converts them. */
  readonly exact: JsonObject;
  /** Requested model name; empty if the route decides. */
  readonly model: string;
  readonly stream: boolean;
  readonly store: boolean;
  /** New input items with numbers in their original text; a plain text becomes one user message. */
  readonly input: readonly JsonObject[];
  readonly previousResponseId: string | null;
  /** Conversation ID, from the text form or the object form of the field. */
  readonly conversation: string | null;
}

/**
 * Parses a request to create a response. Refuses a field whose type differs from its documentation,
 * by its path. A request without `input` must name a previous response, a conversation or a prompt
 * (OpenAI API, Responses).
 */
export function parseResponsesRequest(document: JsonDocument): Result<ResponsesRequest> {
  const request = parseWarmUpRequest(document);
  return request.ok ? inputProblem(document.value) ?? request : request;
}

/** Parses a warm-up request, which gets no generated output: its input may be empty or absent. */
export function parseWarmUpRequest(document: JsonDocument): Result<ResponsesRequest> {
  const { value } = document;
  const problem = typeProblem(responsesBody, value) ?? missingProblem(value) ??
    referencesProblem(document) ?? itemIdProblem(value);
  if (problem !== null) return problem;
  const { model } = value;
  const parsed = parseExact(document.text, value);
  const exact = isObject(parsed) ? parsed : value;
  return success({
    document,
    exact,
    model: typeof model === "string" ? model : "",
    stream: value.stream === true,
    store: value.store !== false,
    input: parseItems(exact.input),
    ...parseReferences(value),
  });
}

/**
 * Returns the IDs of the previous response and the conversation in a body; null for each absent ID.
 */
export function parseReferences(
  value: JsonObject,
): Pick<ResponsesRequest, "previousResponseId" | "conversation"> {
  const { previous_response_id: previous } = value;
  return {
    previousResponseId: typeof previous === "string" ? previous : null,
    conversation: parseConversation(value).id,
  };
}

function parseItems(input: JsonObject[string]): readonly JsonObject[] {
  if (typeof input === "string") {
    return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
  }
  return Array.isArray(input) ? input.filter(isObject) : [];
}

function parseConversation({ conversation }: JsonObject): {
  readonly id: string | null;
  readonly path: string;
} {
  if (typeof conversation === "string") return { id: conversation, path: "conversation" };
  const id = isObject(conversation) ? conversation.id : null;
  return { id: typeof id === "string" ? id : null, path: "conversation.id" };
}

/** A member that the object at a path must have. */
interface RequiredMember {
  readonly value: JsonObject[string];
  readonly member: string;
  readonly path: string;
}

/**
 * Returns the refusal of the first required member that is missing in the body; null if none is.
 */
function missingProblem({ conversation, tools, text, prompt }: JsonObject): Failed<Refusal> | null {
  const format = isObject(text) ? text.format : null;
  const needed: RequiredMember[] = [
    { value: conversation, member: "id", path: "conversation" },
    { value: format, member: "type", path: "text.format" },
    { value: prompt, member: "id", path: "prompt" },
  ];
  for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    needed.push({ value: tool, member: "type", path: `tools[${index}]` });
  }
  for (const { value, member, path } of needed) {
    if (!isObject(value) || (value[member] ?? null) !== null) continue;
    const at = `${path}.${member}`;
    return requiredField(at);
  }
  return null;
}

/**
 * Returns the refusal of the first invalid item ID; null if all are valid. Absent IDs are accepted.
 */
function itemIdProblem({ input }: JsonObject): Failed<Refusal> | null {
  for (const [index, item] of (Array.isArray(input) ? input : []).entries()) {
    for (const member of ["id", "call_id"]) {
      const id = isObject(item) ? item[member] ?? null : null;
      const path = `input[${index}].${member}`;
      if (id === null) continue;
      if (typeof id !== "string") {
        return wrongField(path, "a string");
      }
      const problem = identifierAt(id, path);
      if (problem !== null) return problem;
    }
  }
  return null;
}

/** Returns the refusal of references that are invalid IDs or exclude each other; null if valid. */
export function referencesProblem(document: JsonDocument): Failed<Refusal> | null {
  const { value } = document;
  const misspelled = spellingProblem(value, "previous_response_id", "conversation");
  if (misspelled !== null) return misspelled;
  const conversation = parseConversation(value);
  const previous = value.previous_response_id ?? null;
  if (previous !== null && typeof previous !== "string") {
    return wrongField("previous_response_id", "a string");
  }
  if (conversation.id === null && (value.conversation ?? null) !== null) {
    return wrongField(conversation.path, "a string");
  }
  for (const { id, path } of [{ id: previous, path: "previous_response_id" }, conversation]) {
    const problem = id === null ? null : identifierAt(id, path);
    if (problem !== null) return problem;
  }
  if (hasConversationKeyTwice(document)) {
    return refuse("invalid_json", "The field 'conversation' holds a key more than once.");
  }
  if (previous === null || conversation.id === null) return null;
  const text = "Send either 'previous_response_id' or 'conversation', not both.";
  return contradiction("conversation", text);
}

/**
 * True if the conversation object repeats a key. Its ID decides the owner, so an upstream must not
 * parse a different ID from the same text.
 */
function hasConversationKeyTwice({ text, value, members }: JsonDocument): boolean {
  const member = members.find(({ key }) => key === "conversation");
  if (member === undefined || !isObject(value.conversation)) return false;
  return hasKeyTwice(parseMembers(text, member.start), value.conversation);
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
