import { newBodyStream, wait } from "./body_stream.ts";
import { streamBodySteps } from "./defects.ts";
import { generateOutput } from "./model_output.ts";
import {
  errorResponse,
  readJsonBody,
  runModel,
  SIMULATED_FAILURE,
  wholeResponse,
} from "./sim_call.ts";
import type { SimCall } from "./sim_call.ts";
import { newApiError } from "./protocol.ts";

/** Responds to a chat call in the call's protocol, as a whole body or as a stream. */
export async function answerChat(call: SimCall): Promise<Response> {
  const { protocol, httpRequest, deps } = call;
  const body = await readJsonBody(httpRequest);
  if (body === null) return errorResponse(newApiError("The body is no JSON object."), call);
  const parsed = protocol.parseRequest(body, httpRequest.headers);
  if ("error" in parsed) return errorResponse(parsed.error, call);
  const { request } = parsed;
  return await runModel(request.model, call, async (style) => {
    const output = generateOutput(style, request);
    if (request.stream) {
      const error = JSON.stringify(protocol.encodeError(SIMULATED_FAILURE, deps));
      const records = protocol.encodeStream(output, request, deps);
      const steps = streamBodySteps(records, output, { record: protocol.encodeRecord, error });
      const headers = { "content-type": protocol.streamType, "cache-control": "no-cache" };
      return new Response(newBodyStream(steps, deps), { headers });
    }
    await wait(output.pauseMs * output.text.length, deps, httpRequest.signal);
    return wholeResponse(protocol.encodeWhole(output, request, deps), output.defect, call);
  });
}
