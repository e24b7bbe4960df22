import { newId } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { Reply } from "../../../core/stream/reply.ts";
import type { Result } from "../../../core/failure/result.ts";
import type { Shown } from "../../../store/bindings.ts";
import type { Call } from "../../../call/call.ts";
import type { NativeCapability } from "../../../routing/capability.ts";
import { release } from "../../../routing/ownership.ts";
import type { Place, ResponseHandler } from "../../../call/inference.ts";
import type { ApiRequest } from "../../client_api.ts";
import { callNative, isDeleted, isList, isResource } from "../../stored/native_call.ts";
import { rewrittenAs } from "../../stored/shown_object.ts";
import { systemTexts } from "../../../wires/wire.ts";
import { newNativeRelay } from "./relay.ts";

/** A response that a provider stores. */
interface UpstreamObject extends Place {
  readonly id: string;
  /** How the client of a named model sees it; absent to leave it unchanged. */
  readonly shown?: Shown | undefined;
}

/** Operation on a response that its upstream stores. */
export interface Operation {
  readonly capability: NativeCapability;
  run(call: Call, request: ApiRequest, stored: UpstreamObject): Promise<Result<Reply>>;
}

/** Retrieves a response, or the rest of its stream. */
export const retrieve: Operation = {
  capability: "responses_lifecycle",
  run: (call, { query }, { id, shown, ...place }) =>
    callNative(call, {
      ...place,
      method: "GET",
      path: ["responses", id],
      query: queryOf(call, query),
      isValid: (resource) => isResource(resource, "response", id),
      ...rewrittenAs(shown, systemsOf(call)),
      ...(query.get("stream") === "true" && { reader: newStreamHandler(call, id, shown) }),
    }),
};

/**
 * Returns the query of the upstream request. With privacy rules the provider sends a stream from
 * its beginning: a value may have begun in the events that the client has had.
 */
function queryOf({ client: { privacy } }: Call, query: URLSearchParams): URLSearchParams {
  const after = query.get("starting_after") ?? "";
  if (privacy === null || query.get("stream") !== "true" || !/^\d{1,15}$/.test(after)) return query;
  privacy.answer.startsAfter = Number(after);
  return new URLSearchParams([...query].filter(([name]) => name !== "starting_after"));
}

/** Deletes a response upstream, then the stored owner of its ID. */
export const remove: Operation = {
  capability: "responses_lifecycle",
  run: (call, { query }, { id, ...place }) =>
    callNative(call, {
      ...place,
      method: "DELETE",
      path: ["responses", id],
      query,
      isValid: (resource) => isGone(resource, id),
      withoutBody: { id, object: "response", deleted: true },
      onComplete: (_, { account }) => release(call, "response", id, account.digest),
    }),
};

/** Cancels a response that still runs. */
export const cancel: Operation = {
  capability: "response_cancellation",
  run: (call, { query }, { id, shown, ...place }) =>
    callNative(call, {
      ...place,
      method: "POST",
      path: ["responses", id, "cancel"],
      query,
      ...rewrittenAs(shown, systemsOf(call)),
      isValid: (resource) => isResource(resource, "response", id),
    }),
};

/** Lists the input items of a response. */
export const inputItems: Operation = {
  capability: "responses_lifecycle",
  run: (call, { query }, { id, ...place }) =>
    callNative(call, {
      ...place,
      method: "GET",
      path: ["responses", id, "input_items"],
      query,
      isValid: isList,
    }),
};

/**
 * True if the upstream confirms the deletion; the object type has two notations (OpenAI API,
 * Responses).
 */
function isGone(resource: JsonObject, id: string): boolean {
  return isDeleted(resource, "response", id) || isDeleted(resource, "response.deleted", id);
}

function newStreamHandler(call: Call, id: string, shown: Shown | undefined): ResponseHandler {
  const { world } = call;
  const hidden = systemsOf(call);
  const translation = newNativeRelay({
    conversation: null,
    storesNothing: false,
    ...shown !== undefined && { shown },
    hidden,
    hidesErrors: hidden.length > 0,
    expected: id,
    newId: () => newId("resp_", world),
    unix: () => world.unix(),
    model: shown?.model ?? call.report.model ?? "",
  });
  return { kind: "stream", translation, copiesHeaders: true };
}

/** Returns the instructions of all named models: any of them may have made a stored response. */
function systemsOf({ generation: { routes } }: Call): readonly string[] {
  return routes.flatMap(({ preset }) => preset === undefined ? [] : systemTexts(preset));
}
