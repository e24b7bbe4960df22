import type { ChatRequest } from "../../core/chat.ts";
import { isObject, type JsonObject, parseExact } from "../../core/json.ts";
import { type Result, success } from "../../core/result.ts";
import { nesting } from "../fields.ts";
import { unsupportedField } from "../unsupported_field.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { type Asked, limit, reasoning, sameFields, sampling, streaming, text } from "./controls.ts";
import { ENCODED } from "./fields.ts";
import { input } from "./input.ts";
import { tools } from "./tools.ts";

/** Each gives its members of the request, none of which another one gives. */
const SECTIONS: readonly ((asked: Asked) => Result<JsonObject>)[] = [
  input,
  limit,
  sampling,
  tools,
  reasoning,
  text,
  sameFields,
  streaming,
];

/**
 * A Chat request as a Responses request that leaves nothing upstream. Only fields with an exact
 * counterpart are sent; a Refusal names the first one that has none.
 */
export function encode(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const deep = nesting(chat.document.value);
  if (deep !== null) return deep;
  const exact = parseExact(chat.document.text);
  const body = isObject(exact) ? exact : chat.document.value;
  const refused = unsupportedField(body, ENCODED);
  if (refused !== null) return refused;
  const asked = { body, settings: target.provider.settings };
  let request: JsonObject = { model: target.model };
  for (const section of SECTIONS) {
    const members = section(asked);
    if (!members.ok) return members;
    request = { ...request, ...members.value };
  }
  // There the default is to keep, and Chat's is not to.
  request.store = false;
  return success({
    method: "POST",
    path: "/responses",
    // Written when it is sent: most prepared targets never are.
    get body() {
      return JSON.stringify(request);
    },
  });
}
