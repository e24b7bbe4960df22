import type { JsonObject } from "../../core/json/json.ts";
import type { StoredResponse } from "../account.ts";
import type { Style } from "../model_behaviour.ts";
import { streamBodySteps } from "../defects.ts";
import { type Answer, runModel, streamResponse, withJson } from "../sim_call.ts";
import { wait } from "../body_stream.ts";
import { generateOutput } from "../model_output.ts";
import type { RoutedCall } from "../routes.ts";
import type { Deps, ModelOutput, StreamChunk } from "../protocol.ts";
import { buildEvents, type StreamEvent } from "./events.ts";
import { encodeEvents, sseRecord, streamStatus, wholeResponseWithQuirk } from "./stream_quirks.ts";
import { buildOutputItems } from "./output_items.ts";
import { parseResponsesRequest, type ResponsesRequest } from "./request.ts";
import { buildResource, encodeUsage } from "./resource.ts";
import { createErrors } from "./field_rules.ts";
import { finishResponse, visibleResource } from "./lifecycle.ts";
import { newId } from "../../core/ids.ts";
import { missingParameter } from "../field_checks.ts";
import { COMPACTION_SEAL_TEXT } from "./input_item_rules.ts";

interface CreatedResponse {
  readonly output: ModelOutput;
  readonly streamEvents: readonly StreamEvent[];
  readonly stored: StoredResponse;
}

/** `POST /responses`: creates a response, whole, as a stream or in the background. */
export const createResponse = withJson(async (call: RoutedCall, body) => {
  const { account, httpRequest } = call;
  for (const error of createErrors(body)) return error;
  const deps = account.newAnswerDeps()();
  const parsed = parseResponsesRequest(body, account, deps);
  if ("error" in parsed) return parsed.error;
  const { request } = parsed;
  return await runModel(request.model, call, async (style) => {
    const created = generateResponse(request, style, call, deps);
    const { output, stored } = created;
    const inBackground = stored.resource.background === true;
    if (inBackground) account.responses.set(String(stored.resource.id), stored);
    if (request.stream) return streamCreated(created, call);
    if (inBackground) return wholeResponseWithQuirk(visibleResource(stored), output, call);
    await wait(output.pauseMs * output.text.length, call.deps, httpRequest.signal);
    if (output.defect === null) finishResponse(stored, account);
    return wholeResponseWithQuirk(stored.resource, output, call);
  });
});

function generateResponse(
  request: ResponsesRequest,
  style: Style,
  { account }: RoutedCall,
  deps: Deps,
): CreatedResponse {
  const cache = account.promptCache.use(request.cacheBlocks(), request.inputTokens);
  const output = { ...generateOutput(style, request), cache };
  const searches = request.maySearch && style.kind === "tools";
  const searchQuery = searches ? request.prompt : null;
  const outputItems = buildOutputItems(output, {
    account,
    deps,
    searchQuery,
    includeEncryptedReasoning: request.includeEncryptedReasoning,
  });
  const resource = buildResource(request, output, outputItems, deps);
  const streamEvents = buildEvents(resource, outputItems);
  const events = streamEvents.map(({ event }) => event);
  const { newItems, contextItems } = request;
  return {
    output,
    streamEvents,
    stored: { resource, events, newItems, inputItems: contextItems, phase: "queued" },
  };
}

function streamCreated(
  { output, streamEvents, stored }: CreatedResponse,
  { account, deps }: RoutedCall,
): Response {
  let number = -1;
  const defectRecords = {
    record: sseRecord,
    get error() {
      return JSON.stringify(errorEvent(number + 1));
    },
  };
  const steps = streamBodySteps(chunks(), output, defectRecords);
  return streamResponse(steps, deps, { status: streamStatus(output) });

  function* chunks(): Generator<StreamChunk> {
    for (const chunk of encodeEvents(streamEvents, output)) {
      // The reader may cancel after the terminal event, so the response is stored before it is
      // sent.
      if (number === streamEvents.length - 2) finishResponse(stored, account);
      yield chunk;
      number++;
    }
  }
}

/** Returns an error event with both shapes that real servers send. */
function errorEvent(number: number): JsonObject {
  const error = { code: "server_error", message: "Simulated failure.", param: null };
  const nested = { type: "server_error", ...error };
  return { type: "error", sequence_number: number, ...error, error: nested };
}

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
