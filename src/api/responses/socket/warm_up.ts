import { newId } from "../../../core/ids.ts";
import type { JsonDocument } from "../../../core/json/json.ts";
import type { StreamReply } from "../../../core/stream/reply.ts";
import { refuse, type Result, success } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import { parseMetadata } from "../../items/metadata.ts";
import { requiredTarget } from "../state/continuation.ts";
import { continuationFromItems, type SocketContinuation } from "./socket_continuation.ts";
import { parseWarmUpRequest } from "../request.ts";
import { resolveContinuation, type ResolvePrevious } from "../state/resolve_continuation.ts";
import { servedRequest } from "../state/without_store.ts";
import { newResourceBuilder } from "../generate/resource.ts";

/**
 * Returns an empty response of two events, which the next request can continue. No request is sent
 * upstream (OpenAI API, Responses over WebSocket).
 */
export async function warmUp(
  call: Call,
  document: JsonDocument,
  resolvePrevious: ResolvePrevious,
): Promise<Result<{ readonly reply: StreamReply; readonly continuation: SocketContinuation }>> {
  const parsed = parseWarmUpRequest(document);
  if (!parsed.ok) return parsed;
  const request = servedRequest(call, parsed.value);
  const metadata = parseMetadata(document.value.metadata);
  if (!metadata.ok) return metadata;
  const context = await resolveContinuation(call, request, resolvePrevious);
  if (!context.ok) return context;
  const id = newId("resp_", call.world);
  const owner = requiredTarget(context.value.continuation);
  const continuation = await continuationFromItems(call, { id, isStored: false }, {
    context: context.value,
    owner,
    output: [],
  });
  if (continuation === null) {
    return refuse(
      "unsupported_feature",
      "A provider's own conversation cannot be warmed up; leave 'generate' out.",
      "generate",
    );
  }
  const { world } = call;
  const made = newResourceBuilder({
    id,
    created: world.unix(),
    model: request.model,
    request,
    newId: (prefix) => newId(prefix, world),
    unix: () => world.unix(),
  });
  const state = { model: request.model, incompleteReason: null, error: null, output: [] };
  const created = made({ ...state, status: "in_progress", completedAt: null, usage: null });
  const completed = made({
    ...state,
    status: "completed",
    completedAt: world.unix(),
    usage: { input: 0, output: 0, total: 0, cached: 0, cacheWrite: 0, reasoning: 0 },
  });
  const events = [
    { type: "response.created", sequence_number: 0, response: created },
    { type: "response.completed", sequence_number: 1, response: completed },
  ];
  const records = events.map((event) => ({
    event: event.type,
    data: JSON.stringify(event),
    raw: null,
  }));
  return success({
    reply: { kind: "stream", headers: {}, records: ReadableStream.from([records]) },
    continuation,
  });
}
