import type { ChatRequest } from "../chat_request/chat_request.ts";
import { type Result, success } from "../../core/result.ts";
import { assemble, parseExactBody, type Section } from "../chat_request/encoding.ts";
import { authorNamePaths } from "../chat_request/author_names.ts";
import { citationPaths } from "../chat_request/citations.ts";
import { newPastReasoning } from "../chat_request/past_reasoning.ts";
import { newLosses } from "../chat_request/losses.ts";
import { argumentItemsProblem } from "../../prompt/inner_json.ts";
import { newPostRequest } from "../post_request.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { caller, limits, sampling, type SectionInput, stops, tier } from "./controls.ts";
import { FIELDS } from "./fields.ts";
import { promisesOf } from "./promises.ts";
import { outputConfig, thinking } from "./thinking.ts";
import { tools } from "./tools.ts";
import { encodeTurns } from "./turns.ts";

const SECTIONS: readonly Section<SectionInput>[] = [
  limits,
  sampling,
  stops,
  ({ body, past, losses }) => encodeTurns(body.messages, past, losses),
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
  const body = parseExactBody(chat, FIELDS);
  if (!body.ok) return body;
  const tooMany = argumentItemsProblem(body.value.messages);
  if (tooMany !== null) return tooMany;
  const { provider, account, model, omitTools = [] } = target;
  const losses = newLosses();
  const past = newPastReasoning(chat, account.digest, losses);
  const input = { body: body.value, provider, model, past, losses, omitTools };
  const request = assemble({ model }, SECTIONS, input);
  if (!request.ok) return request;
  const streamed = chat.stream ? { stream: true } : {};
  for (const path of citationPaths(body.value.messages)) losses.add(path);
  for (const path of authorNamePaths(body.value.messages)) losses.add(path);
  const promises = promisesOf(chat, provider.settings);
  return success({
    ...newPostRequest("/v1/messages", { ...request.value, ...streamed }, promises),
    ...losses.member(),
  });
}
