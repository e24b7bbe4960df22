import type { ChatRequest } from "../../core/chat.ts";
import { isObject, type JsonObject, parseExact } from "../../core/json.ts";
import { type Result, success } from "../../core/result.ts";
import { nesting } from "../fields.ts";
import { unsupportedField } from "../unsupported_field.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { type Asked, caller, limits, sampling, stops, tier } from "./controls.ts";
import { ENCODED } from "./fields.ts";
import { outputConfig, thinking } from "./thinking.ts";
import { tools } from "./tools.ts";
import { turns } from "./turns.ts";

/** Each gives its members of the request, none of which another one gives. */
const SECTIONS: readonly ((asked: Asked) => Result<JsonObject>)[] = [
  limits,
  sampling,
  stops,
  ({ body }) => turns(body.messages),
  tools,
  thinking,
  outputConfig,
  caller,
  tier,
];

/**
 * A Chat request as a Messages request. Only what is known here is sent, because the API refuses
 * unknown keys; a Refusal names the first field that cannot be kept.
 */
export function encode(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const deep = nesting(chat.document.value);
  if (deep !== null) return deep;
  const exact = parseExact(chat.document.text);
  const body = isObject(exact) ? exact : chat.document.value;
  const refused = unsupportedField(body, ENCODED);
  if (refused !== null) return refused;
  const asked = { body, settings: target.provider.settings, model: target.model };
  let request: JsonObject = { model: target.model };
  for (const section of SECTIONS) {
    const members = section(asked);
    if (!members.ok) return members;
    request = { ...request, ...members.value };
  }
  if (chat.stream) request.stream = true;
  return success({
    method: "POST",
    path: "/v1/messages",
    // Written when it is sent: most prepared targets never are.
    get body() {
      return JSON.stringify(request);
    },
  });
}
