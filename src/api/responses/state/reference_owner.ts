import type { Refusal } from "../../../core/failure/failure.ts";
import type { JsonDocument } from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import { findOwner } from "../../../routing/ownership.ts";
import type { Place } from "../../../call/inference.ts";
import { locateConversation } from "./locate_conversation.ts";
import { unknownPrevious } from "./resolve_continuation.ts";
import { refuseUnstoredPrevious } from "./without_store.ts";
import { parseReferences, referencesProblem } from "../request.ts";

/**
 * Returns the place of the object of `previous_response_id` or `conversation`, where the upstream
 * can resolve the ID; null if the request has no such reference. Refuses an object with unknown
 * owner, an object of another provider than `named`, and an object that only the gateway stores.
 */
export async function findReferenceOwner(
  call: Call,
  document: JsonDocument,
  named: string | null,
): Promise<Result<Place | null>> {
  const problem = referencesProblem(document);
  if (problem !== null) return problem;
  const { previousResponseId: previous, conversation } = parseReferences(document.value);
  if (previous !== null) return await findResponseOwner(call, previous, named);
  if (conversation !== null) return await findConversationOwner(call, conversation, named);
  return success(null);
}

async function findResponseOwner(
  call: Call,
  id: string,
  named: string | null,
): Promise<Result<Place | null>> {
  const refused = refuseUnstoredPrevious(call);
  if (refused !== null) return refused;
  const param = "previous_response_id";
  const owned = await findOwner(call, { type: "response", id, param, provider: named });
  if (!owned.ok) return owned;
  if (owned.value?.owner?.origin?.protocol === "chat_completions") return storedLocally(param);
  return owned.value === null ? unknownPrevious() : success(owned.value);
}

async function findConversationOwner(
  call: Call,
  id: string,
  named: string | null,
): Promise<Result<Place | null>> {
  const place = await locateConversation(call, id, named);
  if (!place.ok) return place;
  return place.value.kind === "local" ? storedLocally("conversation") : success(place.value.place);
}

function storedLocally(param: string): Failed<Refusal> {
  return refuse(
    "unsupported_feature",
    "Only the gateway stores this object, and no provider knows its ID; send its items as input.",
    param,
  );
}
