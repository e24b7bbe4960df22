import type { ChatRequest } from "../chat_request/chat_request.ts";
import { type Result, success } from "../../core/result.ts";
import { assembled, exactBody, posted, type Section } from "../chat_request/encoding.ts";
import { argumentItemsProblem } from "../inner_json.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { type Asked, caller, limits, sampling, stops, tier } from "./controls.ts";
import { ENCODED } from "./fields.ts";
import { outputConfig, thinking } from "./thinking.ts";
import { tools } from "./tools.ts";
import { turns } from "./turns.ts";

const SECTIONS: readonly Section<Asked>[] = [
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
 * Returns a Chat request as a Messages request. Only known fields are sent, because the API refuses
 * unknown keys. A Refusal names the first field that cannot be translated.
 */
export function encode(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const body = exactBody(chat, ENCODED);
  if (!body.ok) return body;
  const tooMany = argumentItemsProblem(body.value.messages);
  if (tooMany !== null) return tooMany;
  const asked = {
    body: body.value,
    settings: target.provider.settings,
    model: target.model,
  };
  const request = assembled({ model: target.model }, SECTIONS, asked);
  if (!request.ok) return request;
  const streamed = chat.stream ? { stream: true } : {};
  return success(posted("/v1/messages", { ...request.value, ...streamed }));
}
