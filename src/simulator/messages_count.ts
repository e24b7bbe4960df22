import { parseMessagesCount } from "./messages_request.ts";
import { newApiError } from "./protocol.ts";
import { errorResponse, readJsonBody, runModel, type SimCall, wholeResponse } from "./sim_call.ts";

/** `POST /messages/count_tokens`: counts the words of the messages and of the system prompt. */
export async function countMessagesTokens(call: SimCall): Promise<Response> {
  const body = await readJsonBody(call.httpRequest);
  if (body === null) return errorResponse(newApiError("The body is no JSON object."), call);
  const parsed = parseMessagesCount(body, call.httpRequest.headers);
  if ("error" in parsed) return errorResponse(parsed.error, call);
  const { model, inputTokens } = parsed.request;
  return await runModel(
    model,
    call,
    () => wholeResponse({ input_tokens: inputTokens }, null, call),
  );
}
