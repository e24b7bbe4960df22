import type { ChatRequest } from "../chat_request/chat_request.ts";
import { type Result, success } from "../../core/result.ts";
import {
  assemble,
  newPostRequest,
  parseExactBody,
  type Section,
} from "../chat_request/encoding.ts";
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
import { ENCODED } from "./fields.ts";
import { input } from "./input.ts";
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
  sameFields,
  streaming,
];

/**
 * Returns a Chat request as a Responses request that is not stored upstream. Only fields with an
 * exact counterpart are sent; a Refusal names the first field without one.
 */
export function encode(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const body = parseExactBody(chat, ENCODED);
  if (!body.ok) return body;
  const asked = { body: body.value, provider: target.provider };
  const request = assemble({ model: target.model }, SECTIONS, asked);
  if (!request.ok) return request;
  // The default of Responses is to store a response; the default of Chat is not to.
  return success(newPostRequest("/responses", { ...request.value, store: false }));
}
