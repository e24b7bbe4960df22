import { newId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { missingParameter } from "../field_checks.ts";
import { type Answer, runModel, withJson } from "../sim_call.ts";
import { generateOutput } from "../model_output.ts";
import type { RoutedCall } from "../routes.ts";
import { type Deps, type ModelOutput } from "../protocol.ts";
import { COMPACTION_SEAL_TEXT } from "./input_item_rules.ts";
import { parseResponsesRequest, type ResponsesRequest } from "./request.ts";
import { encodeUsage } from "./resource.ts";
import { wholeResponseWithQuirk } from "./stream_quirks.ts";

/**
 * `POST /responses/compact`: keeps user messages and replaces all other items by one sealed item.
 */
export const compactResponse = withJson((call: RoutedCall, body) => {
  if (typeof body.model !== "string") return missingParameter("model");
  return answerFromInput(body, call, ({ inputTokens, contextItems }, output, deps) => {
    const sealed = call.account.seal(COMPACTION_SEAL_TEXT);
    const compaction = { id: newId("cmp_", deps), type: "compaction", encrypted_content: sealed };
    return {
      id: newId("resp_", deps),
      object: "response.compaction",
      created_at: deps.unix(),
      output: [...contextItems.filter(({ role }) => role === "user"), compaction],
      usage: encodeUsage(inputTokens, { ...output, thinking: [], outputTokens: 1 }),
    };
  });
});

/** `POST /responses/input_tokens`: counts the words of the input, its history and instructions. */
export const countInputTokens = withJson((call: RoutedCall, body) =>
  // A count does not depend on the model, so the request may omit it.
  answerFromInput({ model: "sim-echo", ...body }, call, ({ inputTokens }) => (
    { object: "response.input_tokens", input_tokens: inputTokens }
  ))
);

async function answerFromInput(
  body: JsonObject,
  call: RoutedCall,
  answer: (request: ResponsesRequest, output: ModelOutput, deps: Deps) => JsonObject,
): Promise<Answer> {
  const deps = call.account.newAnswerDeps()();
  const parsed = parseResponsesRequest(body, call.account, deps);
  if ("error" in parsed) return parsed.error;
  const { request } = parsed;
  return await runModel(request.model, call, (style) => {
    const output = generateOutput(style, request);
    return wholeResponseWithQuirk(answer(request, output, deps), output, call);
  });
}
