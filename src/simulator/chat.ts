import { wait } from "./body_stream.ts";
import { streamBodySteps } from "./defects.ts";
import { parseMessagesCount } from "./messages_request.ts";
import { generateOutput } from "./model_output.ts";
import type { RoutedCall } from "./routes.ts";
import {
  runModel,
  SIMULATED_FAILURE,
  streamResponse,
  wholeResponse,
  withJson,
} from "./sim_call.ts";

/** Responds to a chat call in the call's protocol, as a whole body or as a stream. */
export const answerChat = withJson(async (call: RoutedCall, body) => {
  const { protocol, httpRequest, deps, account } = call;
  const parsed = protocol.parseRequest(body, httpRequest.headers);
  if ("error" in parsed) return parsed.error;
  const { request } = parsed;
  return await runModel(request.model, call, async (style) => {
    const cache = account.promptCache.use(request.cacheBlocks(), request.inputTokens);
    const output = { ...generateOutput(style, request), cache };
    if (request.stream) {
      const error = JSON.stringify(protocol.encodeError(SIMULATED_FAILURE, deps));
      const records = protocol.encodeStream(output, request, deps);
      const steps = streamBodySteps(records, output, { record: protocol.encodeRecord, error });
      return streamResponse(steps, deps, { type: protocol.streamType });
    }
    await wait(output.pauseMs * output.text.length, deps, httpRequest.signal);
    return wholeResponse(protocol.encodeWhole(output, request, deps), output.defect, call);
  });
});

/** `POST /messages/count_tokens`: counts the words of the messages and of the system prompt. */
export const countMessagesTokens = withJson((call, body) => {
  const parsed = parseMessagesCount(body, call.httpRequest.headers);
  if ("error" in parsed) return parsed.error;
  const { model, inputTokens } = parsed.request;
  const count = { input_tokens: inputTokens };
  return runModel(model, call, () => wholeResponse(count, null, call));
});
