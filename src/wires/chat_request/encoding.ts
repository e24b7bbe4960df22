import type { ChatRequest } from "./chat_request.ts";
import { isObject, type JsonObject, parseExact } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { nesting } from "./refusals.ts";
import { newPayload } from "../payload.ts";
import { unsupportedField } from "./closed_fields.ts";
import type { UpstreamRequest } from "../wire.ts";

/** Gives its members of a request, none of which another section gives. */
export type Section<Asked> = (asked: Asked) => Result<JsonObject>;

/**
 * The body of a request that is to be translated; its numbers keep their text. A Refusal names the
 * first field that is nested too deeply, or that is neither encoded nor asks for nothing.
 */
export function exactBody(
  { document }: ChatRequest,
  encoded: ReadonlySet<string>,
): Result<JsonObject> {
  const deep = nesting(document.value);
  if (deep !== null) return deep;
  const exact = parseExact(document.text);
  const body = isObject(exact) ? exact : document.value;
  return unsupportedField(body, encoded) ?? success(body);
}

/** The members of all sections, in their order, behind those that stand first. */
export function assembled<Asked>(
  first: JsonObject,
  sections: readonly Section<Asked>[],
  asked: Asked,
): Result<JsonObject> {
  let request = first;
  for (const section of sections) {
    const members = section(asked);
    if (!members.ok) return members;
    request = { ...request, ...members.value };
  }
  return success(request);
}

/** A request that is posted; it is written when it is sent, because most prepared targets never are. */
export function posted(path: string, request: Readonly<Record<string, unknown>>): UpstreamRequest {
  return { method: "POST", path, payload: newPayload(() => JSON.stringify(request)) };
}
