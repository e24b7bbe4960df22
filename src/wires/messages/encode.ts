import { type Result, success } from "../../core/failure/result.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import { assemble, type Section } from "../sections.ts";
import { newPostRequest } from "../post_request.ts";
import type { Encoding, UpstreamRequest } from "../wire.ts";
import { setBreakpoints } from "./breakpoints.ts";
import {
  cacheControl,
  caller,
  limits,
  sampling,
  type SectionInput,
  stops,
  tier,
} from "./controls.ts";
import { mayLackThinking, outputConfig, thinking } from "./thinking.ts";
import { tools } from "./tools.ts";
import { encodeTurns } from "./turns.ts";

const SECTIONS: readonly Section<SectionInput>[] = [
  limits,
  sampling,
  stops,
  encodeTurns,
  tools,
  thinking,
  outputConfig,
  caller,
  tier,
  cacheControl,
];

/**
 * Returns a prompt as a Messages request. Only known fields are sent, because the API refuses
 * unknown keys. A Refusal names the first field that cannot be translated.
 */
export function encodePrompt(prompt: Prompt, encoding: Encoding): Result<UpstreamRequest> {
  const input = { ...encoding, prompt };
  const request = assemble({ model: encoding.target.model }, SECTIONS, input);
  if (!request.ok) return request;
  const encoded = prompt.stream ? { ...request.value, stream: true } : request.value;
  const isMarked = encoding.target.provider.settings.cache_breakpoints === "auto";
  const { request: sent, count } = isMarked
    ? setBreakpoints(encoded)
    : { request: encoded, count: 0 };
  return success({
    ...newPostRequest("/v1/messages", sent),
    ...count > 0 && { cacheBreakpoints: count },
    ...mayLackThinking(prompt, encoded) && { mayLackThinking: true },
    ...encoding.carrier.done(),
  });
}
