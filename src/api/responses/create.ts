import type { Outcome } from "../../core/codec.ts";
import type { JsonDocument } from "../../core/json/json.ts";
import type { Reply } from "../../core/reply.ts";
import { type Result, success } from "../../core/result.ts";
import { exchange } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import type { Inference } from "../../call/inference.ts";
import { protocolOf } from "../../call/owner.ts";
import type { Target } from "../../wires/wire.ts";
import { parseMetadata } from "../metadata.ts";
import type { Settled } from "./creation.ts";
import { requiredTarget, type ResolvedRequest } from "./state/continuation.ts";
import { nativeAttempts } from "./native/create.ts";
import { type ResponsesRequest, responsesRequest } from "./request.ts";
import { resolveContinuation, type ResolvePrevious } from "./state/resolve_continuation.ts";
import { storeResponse } from "./state/store_response.ts";
import { translatedAttempts } from "./translate/create.ts";

/** What differs between creation over HTTP and over a WebSocket. */
export interface CreateOptions {
  readonly resolvePrevious: ResolvePrevious;
  /** Hears of every response that has reached its end, before its terminal goes out. */
  readonly settled?: (settled: Settled) => void;
  /** True where clients take an error event for the end of the stream, before its terminal. */
  readonly hidesErrors?: boolean;
}

/** A create that no route matches as Responses is matched once more as a chat completion. */
export const MATCHES_AS = ["responses", "chat_completions"] as const;

/** Creates one response; over HTTP and over a socket the same. */
export async function createResponse(
  call: Call,
  document: JsonDocument,
  options: CreateOptions,
): Promise<Result<Reply>> {
  call.report.stream = document.value.stream === true;
  const request = responsesRequest(document);
  if (!request.ok) return request;
  const metadata = parseMetadata(document.value.metadata);
  if (!metadata.ok) return metadata;
  const context = await resolveContinuation(call, request.value, options.resolvePrevious);
  if (!context.ok) return context;
  return await exchange(call, inferenceOf(call, request.value, context.value, options));
}

function inferenceOf(
  call: Call,
  request: ResponsesRequest,
  context: ResolvedRequest,
  options: CreateOptions,
): Inference {
  async function settle(target: Target, { resource, usage }: Outcome): Promise<Result<void>> {
    if (resource === null) return success(undefined);
    const settled = { target, context, request, resource, usage };
    const retained = await storeResponse(call, settled);
    if (retained.ok) options.settled?.(settled);
    return retained;
  }
  const hidesErrors = options.hidesErrors ?? false;
  const creation = { call, request, context, settle, hidesErrors };
  const native = nativeAttempts(creation);
  const translated = translatedAttempts(creation);
  return {
    matchesAs: MATCHES_AS,
    model: request.model,
    stream: request.stream,
    owner: requiredTarget(context.continuation),
    canonical: () => null,
    prepare: (target) =>
      protocolOf(target.wire) === "responses" ? native(target) : translated(target),
  };
}
