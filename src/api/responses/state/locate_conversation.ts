import { type Result, success } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import { resolveOwner } from "../../../routing/ownership.ts";
import type { Place } from "../../../call/inference.ts";
import { isVisible } from "../../../store/bindings.ts";
import { refuseStored } from "../../stored/stored_state.ts";
import { type Conversation, unknownConversation } from "../../../store/conversations.ts";

/** Storage place of a conversation: the gateway's own store or a provider. */
export type ConversationPlace =
  | { readonly kind: "local"; readonly conversation: Conversation }
  | {
    readonly kind: "upstream";
    readonly place: Place;
    /** True if the gateway stored this owner; false if only the client names the provider. */
    readonly isBound: boolean;
  };

/**
 * Finds the storage place of a conversation. A stored upstream owner comes first, then the
 * gateway's own store, then the provider that the client names. Refuses with
 * `conversation_not_found` if the client names none.
 */
export async function locateConversation(
  call: Call,
  id: string,
  provider: string | null,
): Promise<Result<ConversationPlace>> {
  const param = "conversation";
  const refused = refuseStored(
    call,
    "This gateway stores no conversations (state.store is none); send the items of the conversation as input.",
    param,
  );
  if (refused !== null) return refused;
  const { owners, conversations } = call.state.objects;
  const [found, bound] = await Promise.all([
    conversations.find(id),
    owners.conversation.findBinding(id),
  ]);
  if (!found.ok) return found;
  if (!bound.ok) return bound;
  const local = found.value;
  const isBound = bound.value !== null;
  // A conversation of another client is as unknown as any, also if the request names a provider.
  if (local !== null && !isBound && isVisible(call, local.creator)) {
    return success({ kind: "local", conversation: local });
  }
  const owned = resolveOwner(call, { param, provider }, bound.value);
  if (!owned.ok) return owned;
  if (owned.value === null) return unknownConversation(param);
  const { provider: owner, account } = owned.value;
  return success({ kind: "upstream", place: { provider: owner, account }, isBound });
}
