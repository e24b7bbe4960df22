import { type Result, success } from "../../core/failure/result.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import { newPostRequest } from "../post_request.ts";
import { assemble, type Section } from "../sections.ts";
import type { Encoding, UpstreamRequest } from "../wire.ts";
import {
  limit,
  reasoning,
  sameFields,
  sampling,
  type SectionInput,
  streaming,
  text,
} from "./controls.ts";
import { included } from "./included.ts";
import { input } from "./input.ts";
import { stops } from "./stops.ts";
import { logprobs } from "./logprobs.ts";
import { tools } from "./tools.ts";

const SECTIONS: readonly Section<SectionInput>[] = [
  stops,
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

/** Returns a prompt as a Responses request that is not stored upstream. */
export function encodePrompt(prompt: Prompt, encoding: Encoding): Result<UpstreamRequest> {
  const { target, carrier } = encoding;
  const request = assemble({ model: target.model }, SECTIONS, { prompt, target, carrier });
  if (!request.ok) return request;
  // The default of Responses is to store a response; the default of Chat is not to.
  return success({
    ...newPostRequest("/responses", { ...request.value, store: false }),
    ...carrier.done(),
  });
}
