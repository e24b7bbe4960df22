import { mayReason } from "../../data/known_models.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { isEmpty } from "../chat_request/refusals.ts";
import type { SectionInput } from "./controls.ts";

/**
 * Returns `include`: the logprobs that the client requests, and encrypted reasoning if the model may
 * call a tool. A tool loop is continued with that reasoning, because the upstream stores nothing.
 */
export function included({ body, model }: SectionInput): Result<JsonObject> {
  const include = [
    ...body.logprobs === true ? ["message.output_text.logprobs"] : [],
    ...!isEmpty(body.tools) && mayReason(model) ? ["reasoning.encrypted_content"] : [],
  ];
  return success(include.length === 0 ? {} : { include });
}
