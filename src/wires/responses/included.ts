import { mayReason } from "../../data/known_models.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { SectionInput } from "./controls.ts";

/**
 * Returns `include`: the logprobs that the client requests, and encrypted reasoning if the model
 * may call a tool. A tool loop is continued with that reasoning, because the upstream stores
 * nothing.
 */
export function included(
  { prompt: { logprobs, tools, hasLegacyTools }, target: { model } }: SectionInput,
): Result<JsonObject> {
  const mayLoop = tools.length > 0 && !hasLegacyTools && mayReason(model);
  const include = [
    ...logprobs.isWanted ? ["message.output_text.logprobs"] : [],
    ...mayLoop ? ["reasoning.encrypted_content"] : [],
  ];
  return success(include.length === 0 ? {} : { include });
}
