import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonDocument, type JsonObject } from "../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../core/result.ts";
import { hasKeyTwice } from "../../formats/document.ts";
import { parseMembers } from "../../formats/edit.ts";
import { exactBody } from "./translate/exact.ts";
import { identifierProblem as identifierAt } from "../identifier.ts";
import { typeProblem } from "../shape.ts";
import { responsesBody } from "./request_shape.ts";

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
  const problem = typeProblem(responsesBody, value) ?? missingProblem(value) ??
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

/** Returns the refusal of the first member that an object of the body cannot be without; else null. */
function missingProblem({ conversation, tools, text, prompt }: JsonObject): Failed<Refusal> | null {
  const format = isObject(text) ? text.format : null;
  const needed: (readonly [value: JsonObject[string], member: string, path: string])[] = [
    [conversation, "id", "conversation"],
    [format, "type", "text.format"],
    [prompt, "id", "prompt"],
  ];
  for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    needed.push([tool, "type", `tools[${index}]`]);
  }
  for (const [value, member, path] of needed) {
    if (!isObject(value) || (value[member] ?? null) !== null) continue;
    const at = `${path}.${member}`;
    return refuse("missing_required_parameter", `The field '${at}' is required.`, at);
  }
  return null;
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
