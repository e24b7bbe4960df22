import type { Refusal } from "../../../core/failure/failure.ts";
import type { Failed } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import { refuseStored } from "../../stored/stored_state.ts";
import type { ResponsesRequest } from "../request.ts";

/**
 * Returns the create request as this gateway serves it: with `store: false`, whatever the client
 * has written, if the gateway stores nothing.
 */
export function servedRequest(call: Call, request: ResponsesRequest): ResponsesRequest {
  return call.state.objects.storesNothing === true ? { ...request, store: false } : request;
}

/**
 * Records that the response does not follow `store` because the gateway stores nothing, if the
 * client has written true. A client that leaves it out finds `store: false` in the response.
 */
export function dropStore({ document, store }: ResponsesRequest, { drop }: Carrier): void {
  if (document.value.store === true && !store) drop("store");
}

/** Returns the refusal of a background response at a gateway that stores no responses. */
export function refuseUnstoredBackground(call: Call): Failed<Refusal> | null {
  return refuseStored(
    call,
    "This gateway stores no responses (state.store is none), so this one could not be retrieved; omit 'background'.",
    "background",
  );
}

/** Returns the refusal of a previous response at a gateway that stores no responses. */
export function refuseUnstoredPrevious(call: Call): Failed<Refusal> | null {
  return refuseStored(
    call,
    "This gateway stores no responses (state.store is none); send the whole conversation as input.",
    "previous_response_id",
  );
}

/** Returns the refusal of a reference to an item at a gateway that stores no items. */
export function refuseUnstoredItem(call: Call, path: string): Failed<Refusal> | null {
  return refuseStored(
    call,
    "This gateway stores no items (state.store is none); send the item itself.",
    `${path}.id`,
  );
}
