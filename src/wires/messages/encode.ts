import type { ChatRequest } from "../chat_request/chat_request.ts";
import { type Result, success } from "../../core/result.ts";
import {
  assemble,
  newPostRequest,
  parseExactBody,
  type Section,
} from "../chat_request/encoding.ts";
import { citationPaths } from "../chat_request/citations.ts";
import { argumentItemsProblem } from "../inner_json.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { caller, limits, sampling, type SectionInput, stops, tier } from "./controls.ts";
import { ENCODED } from "./fields.ts";
import { outputConfig, thinking } from "./thinking.ts";
import { tools } from "./tools.ts";
import { encodeTurns } from "./turns.ts";

const SECTIONS: readonly Section<SectionInput>[] = [
  limits,
  sampling,
  stops,
  ({ body }) => encodeTurns(body.messages),
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
  const body = parseExactBody(chat, ENCODED);
  if (!body.ok) return body;
  const tooMany = argumentItemsProblem(body.value.messages);
  if (tooMany !== null) return tooMany;
  const input = {
    body: body.value,
    provider: target.provider,
    model: target.model,
  };
  const request = assemble({ model: target.model }, SECTIONS, input);
  if (!request.ok) return request;
  const streamed = chat.stream ? { stream: true } : {};
  const lossy = citationPaths(body.value.messages);
  return success({
    ...newPostRequest("/v1/messages", { ...request.value, ...streamed }),
    ...lossy.length > 0 && { lossy },
  });
}
