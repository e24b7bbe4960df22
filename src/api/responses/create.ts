import type { Outcome } from "../../core/stream/stream.ts";
import type { JsonDocument, JsonObject } from "../../core/json/json.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { exchange } from "../../exchange.ts";
import { turnAmong } from "../../traffic/loop_turns.ts";
import type { Call } from "../../call/call.ts";
import { awaitTurn, turnForRequest } from "../../call/call_turns.ts";
import type { Inference } from "../../call/inference.ts";
import { recordBodySession } from "../../call/session.ts";
import { refuseBackground } from "../../access/permissions.ts";
import { protocolOf } from "../../routing/ownership.ts";
import type { Target } from "../../wires/wire.ts";
import { parseMetadata } from "../items/metadata.ts";
import type { FinishedResponse } from "./creation.ts";
import { itemCount, requiredTarget, type ResolvedRequest } from "./state/continuation.ts";
import { newEarlyResponse } from "./early.ts";
import { newIdentities } from "./generate/identity.ts";
import { nativeCandidates } from "./native/create.ts";
import { parseResponsesRequest, type ResponsesRequest } from "./request.ts";
import { resolveContinuation, type ResolvePrevious } from "./state/resolve_continuation.ts";
import { refuseManyItems, storeResponse } from "./state/store_response.ts";
import { refuseUnstoredBackground, servedRequest } from "./state/without_store.ts";
import { translatedCandidates } from "./translated.ts";

/** Options of creation, which differ between HTTP and a WebSocket. */
export interface CreateOptions {
  readonly resolvePrevious: ResolvePrevious;
  /** Called with every finished response before its terminal event is sent. */
  readonly onFinished?: (finished: FinishedResponse) => Promise<void>;
  /** True if clients treat an `error` event as the end of the stream, before the terminal event. */
  readonly hidesErrors?: boolean;
}

/** Endpoint names that routes match for a create request, in order of preference. */
export const MATCHES_AS = ["responses", "chat_completions"] as const;

/** Creates one response, for HTTP requests and WebSocket messages alike. */
export async function createResponse(
  call: Call,
  document: JsonDocument,
  options: CreateOptions,
): Promise<Result<Reply>> {
  const { turns } = call;
  const { input } = document.value;
  call.report.stream = document.value.stream === true;
  const parsing = turnAmong(turns, Array.isArray(input) ? input.length : 0, "large");
  if (parsing !== null) await parsing;
  const parsed = parseResponsesRequest(document);
  if (!parsed.ok) return parsed;
  const request = servedRequest(call, parsed.value);
  const refused = document.value.background === true
    ? refuseBackground(call.client.key) ?? refuseUnstoredBackground(call)
    : null;
  if (refused !== null) return refused;
  const metadata = parseMetadata(document.value.metadata);
  if (!metadata.ok) return metadata;
  const context = await resolveContinuation(call, request, options.resolvePrevious);
  if (!context.ok) return context;
  const { continuation } = context.value;
  // Items keep their IDs from turn to turn, so the first one identifies the dialogue.
  if (call.client.session === null && continuation.kind === "local") {
    recordBodySession(call, { root: rootOf(continuation.history) });
  }
  const stopped = await awaitTurn(call, turnToWrite(call, itemCount(context.value)));
  if (stopped !== null) return stopped;
  return await exchange(call, await newInference(call, request, context.value, options));
}

/**
 * Returns the turn in which a request with stored items is written for its targets, by their number
 * or their size; null for now. A body has had its own.
 */
function turnToWrite(call: Call, items: number) {
  if (items === 0) return null;
  return turnAmong(call.turns, items, "large") ?? turnForRequest(call);
}

/** Returns the ID of the first item of a dialogue; null if it has none. */
function rootOf([first]: readonly JsonObject[]): string | null {
  return typeof first?.id === "string" ? first.id : null;
}

async function newInference(
  call: Call,
  request: ResponsesRequest,
  context: ResolvedRequest,
  options: CreateOptions,
): Promise<Inference> {
  async function storeOutcome(target: Target, { resource, usage }: Outcome): Promise<Result<void>> {
    if (resource === null) return success(undefined);
    const finished = { target, context, request, resource, usage };
    const stored = await storeResponse(call, finished);
    const { onFinished } = options;
    if (!stored.ok || onFinished === undefined) return stored;
    const turn = turnAmong(call.turns, itemCount(context), "large");
    if (turn !== null) await turn;
    await onFinished(finished);
    return stored;
  }
  const hidesErrors = options.hidesErrors ?? false;
  const identities = newIdentities(call.world);
  const creation = { call, request, context, storeOutcome, identities, hidesErrors };
  const isBackground = request.document.value.background === true;
  const native = nativeCandidates(creation);
  const translated = await translatedCandidates(creation);
  return {
    matchesAs: MATCHES_AS,
    model: request.model,
    stream: request.stream,
    owner: requiredTarget(context.continuation),
    canonical: () => null,
    ...request.stream && !isBackground && { newEarly: () => newEarlyResponse(creation) },
    ...translated,
    prepare: (target) =>
      refuseManyItems(creation, target) ??
        (protocolOf(target.wire) === "responses" ? native(target) : translated.prepare(target)),
  };
}
