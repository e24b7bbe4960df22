import type { ChatRequest } from "../chat_request/chat_request.ts";
import { authorNamePaths } from "../chat_request/author_names.ts";
import { type Result, success } from "../../core/result.ts";
import { assemble, parseExactBody, type Section } from "../chat_request/encoding.ts";
import { newPastReasoning } from "../chat_request/past_reasoning.ts";
import { newLosses } from "../chat_request/losses.ts";
import { newPostRequest } from "../post_request.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import {
  limit,
  reasoning,
  sameFields,
  sampling,
  type SectionInput,
  streaming,
  text,
} from "./controls.ts";
import { FIELDS } from "./fields.ts";
import { included } from "./included.ts";
import { input } from "./input.ts";
import { stopPromises } from "./stops.ts";
import { logprobs } from "./logprobs.ts";
import { tools } from "./tools.ts";

const SECTIONS: readonly Section<SectionInput>[] = [
  input,
  limit,
  sampling,
  tools,
  reasoning,
  text,
  logprobs,
  included,
  sameFields,
  streaming,
];

/**
 * Returns a Chat request as a Responses request that is not stored upstream. Only fields with an
 * exact counterpart are sent; a Refusal names the first field without one.
 */
export function encode(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const body = parseExactBody(chat, FIELDS);
  if (!body.ok) return body;
  const stops = stopPromises(body.value, target.provider.settings);
  if (!stops.ok) return stops;
  const { provider, account, model, omitTools = [] } = target;
  const losses = newLosses();
  const past = newPastReasoning(chat, account.digest, losses);
  const asked = { body: body.value, provider, model, past, losses, omitTools };
  const request = assemble({ model }, SECTIONS, asked);
  if (!request.ok) return request;
  for (const path of authorNamePaths(body.value.messages)) losses.add(path);
  // The default of Responses is to store a response; the default of Chat is not to.
  return success({
    ...newPostRequest("/responses", { ...request.value, store: false }, stops.value),
    ...losses.member(),
  });
}
