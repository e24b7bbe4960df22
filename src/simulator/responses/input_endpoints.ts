import { newId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { missingParameter } from "../field_checks.ts";
import { errorResponse, readJsonBody, runModel } from "../sim_call.ts";
import { generateOutput } from "../model_output.ts";
import type { RoutedCall } from "../routes.ts";
import { type Deps, type ModelOutput, newApiError } from "../protocol.ts";
import { COMPACTION_SEAL_TEXT } from "./input_item_rules.ts";
import { wholeResponseWithQuirk } from "./json_quirks.ts";
import { parseResponsesRequest, type ResponsesRequest } from "./request.ts";
import { encodeUsage } from "./resource.ts";

/**
 * `POST /responses/compact`: keeps user messages and replaces all other items by one sealed item.
 */
export async function compactResponse(call: RoutedCall): Promise<Response> {
  const body = await readJsonBody(call.httpRequest);
  if (body !== null && typeof body.model !== "string") {
    return errorResponse(missingParameter("model"), call);
  }
  return await answerFromInput(body, call, ({ inputTokens, contextItems }, output, deps) => {
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
}

/** `POST /responses/input_tokens`: counts the words of the input, its history and instructions. */
export async function countInputTokens(call: RoutedCall): Promise<Response> {
  const body = await readJsonBody(call.httpRequest);
  // A count does not depend on the model, so the request may omit it.
  const named = body === null ? null : { model: "sim-echo", ...body };
  return await answerFromInput(named, call, ({ inputTokens }) => (
    { object: "response.input_tokens", input_tokens: inputTokens }
  ));
}

async function answerFromInput(
  body: JsonObject | null,
  call: RoutedCall,
  answer: (request: ResponsesRequest, output: ModelOutput, deps: Deps) => JsonObject,
): Promise<Response> {
  if (body === null) return errorResponse(newApiError("The body is no JSON object."), call);
  const deps = call.account.newAnswerDeps()();
  const parsed = parseResponsesRequest(body, call.account, deps);
  if ("error" in parsed) return errorResponse(parsed.error, call);
  const { request } = parsed;
  return await runModel(request.model, call, (style) => {
    const output = generateOutput(style, request);
    return wholeResponseWithQuirk(answer(request, output, deps), output, call);
  });
}
