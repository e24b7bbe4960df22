import type { Refusal } from "../../../core/failure.ts";
import type { JsonDocument } from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/result.ts";
import type { Call } from "../../../call/call.ts";
import { findOwner } from "../../../call/owner.ts";
import type { Provider } from "../../../wires/wire.ts";
import { locateConversation } from "./locate_conversation.ts";
import { unknownPrevious } from "./resolve_continuation.ts";
import { referencesOf, referencesProblem } from "../request.ts";

/**
 * Who keeps what a request refers to by `previous_response_id` or `conversation`, for a provider that
 * is to look it up itself; null when it refers to nothing. Refused when nobody can tell whose it is,
 * when it belongs to another provider than the one that is named, and when no provider has it
 * because the gateway keeps it itself.
 */
export async function keeperOf(
  call: Call,
  document: JsonDocument,
  named: string | null,
): Promise<Result<Provider | null>> {
  const problem = referencesProblem(document);
  if (problem !== null) return problem;
  const { previousResponseId: previous, conversation } = referencesOf(document.value);
  if (previous !== null) return await responseKeeper(call, previous, named);
  if (conversation !== null) return await conversationKeeper(call, conversation, named);
  return success(null);
}

async function responseKeeper(
  call: Call,
  id: string,
  named: string | null,
): Promise<Result<Provider | null>> {
  const param = "previous_response_id";
  const owned = await findOwner(call, { type: "response", id, param, provider: named });
  if (!owned.ok) return owned;
  if (owned.value?.owner?.origin?.protocol === "chat_completions") return keptHere(param);
  return owned.value === null ? unknownPrevious() : success(owned.value.provider);
}

async function conversationKeeper(
  call: Call,
  id: string,
  named: string | null,
): Promise<Result<Provider | null>> {
  const place = await locateConversation(call, id, named);
  if (!place.ok) return place;
  return place.value.at === "here" ? keptHere("conversation") : success(place.value.provider);
}

function keptHere(param: string): Failed<Refusal> {
  return refuse(
    "unsupported_feature",
    "The gateway keeps this itself and no provider knows it; send its items as input.",
    param,
  );
}
