import { type Result, success } from "../../core/result.ts";
import type { Call } from "../../gateway/call.ts";
import { isVisible, ownerOf } from "../../gateway/owner.ts";
import { type Conversation, unknownConversation } from "../../state/conversations.ts";
import type { Provider } from "../../wires/wire.ts";

/** Where the conversation that a request belongs to is kept. */
export type ConversationPlace =
  | { readonly at: "here"; readonly kept: Conversation }
  | {
    readonly at: "upstream";
    readonly provider: Provider;
    /** The gateway has seen it made there; else the client says so. */
    readonly isBound: boolean;
  };

/**
 * Finds a conversation: one that was made upstream is its owner's, the gateway's own ones come next,
 * any other is at the provider that the client names. `conversation_not_found` when it names none.
 */
export function placeOf(
  call: Call,
  id: string,
  provider: string | null,
): Result<ConversationPlace> {
  const param = "conversation";
  const { bindings, conversations } = call.vault;
  const kept = conversations.get(id);
  const isBound = bindings.conversation.get(id) !== undefined;
  if (kept !== undefined && !isBound) {
    return isVisible(call, kept.creator)
      ? success({ at: "here", kept })
      : unknownConversation(param);
  }
  const owned = ownerOf(call, { type: "conversation", id, param, provider });
  if (!owned.ok) return owned;
  return owned.value === null
    ? unknownConversation(param)
    : success({ at: "upstream", provider: owned.value.provider, isBound });
}
