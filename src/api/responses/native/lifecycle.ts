import { newId } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { Reply } from "../../../core/reply.ts";
import type { Result } from "../../../core/result.ts";
import type { Call } from "../../../call/call.ts";
import type { NativeCapability } from "../../../call/capable.ts";
import { release } from "../../../call/owner.ts";
import type { ResponseHandler } from "../../../call/inference.ts";
import type { Provider } from "../../../wires/wire.ts";
import type { ApiRequest } from "../../client_api.ts";
import { callNative, isDeleted, isList, isResource } from "../../native_call.ts";
import { nativeRelay } from "./relay.ts";

/** Does something with a response that its upstream keeps. */
export interface Operation {
  readonly capability: NativeCapability;
  run(call: Call, request: ApiRequest, provider: Provider, id: string): Promise<Result<Reply>>;
}

/** Shows a response, or the rest of its stream. */
export const retrieve: Operation = {
  capability: "responses_lifecycle",
  run: (call, { query }, provider, id) =>
    callNative(call, {
      provider,
      method: "GET",
      path: ["responses", id],
      query,
      isValid: (resource) => isResource(resource, "response", id),
      ...(query.get("stream") === "true" && { reader: streamOf(call, id) }),
    }),
};

/** Deletes a response upstream; then it belongs to nobody. */
export const remove: Operation = {
  capability: "responses_lifecycle",
  run: (call, { query }, provider, id) =>
    callNative(call, {
      provider,
      method: "DELETE",
      path: ["responses", id],
      query,
      isValid: (resource) => isGone(resource, id),
      withoutBody: { id, object: "response", deleted: true },
      settle: () => release(call, "response", id, provider.account),
    }),
};

/** Ends a response that is still being made. */
export const cancel: Operation = {
  capability: "response_cancellation",
  run: (call, { query }, provider, id) =>
    callNative(call, {
      provider,
      method: "POST",
      path: ["responses", id, "cancel"],
      query,
      isValid: (resource) => isResource(resource, "response", id),
    }),
};

/** Lists what a response was made of. */
export const inputItems: Operation = {
  capability: "responses_lifecycle",
  run: (call, { query }, provider, id) =>
    callNative(call, {
      provider,
      method: "GET",
      path: ["responses", id, "input_items"],
      query,
      isValid: isList,
    }),
};

/** The type of what is left is written in two ways (OpenAI API, Responses). */
function isGone(resource: JsonObject, id: string): boolean {
  return isDeleted(resource, "response", id) || isDeleted(resource, "response.deleted", id);
}

function streamOf(call: Call, id: string): ResponseHandler {
  const { world } = call;
  const delivery = nativeRelay({
    conversation: null,
    expected: id,
    newId: () => newId("resp_", world),
    unix: () => world.unix(),
    model: call.report.model ?? "",
  });
  return { kind: "stream", delivery, copiesHeaders: true };
}
