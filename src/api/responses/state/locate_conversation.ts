import { type Result, success } from "../../../core/result.ts";
import type { Call } from "../../../call/call.ts";
import { isVisible, resolveOwner } from "../../../call/owner.ts";
import { type Conversation, unknownConversation } from "../../../state/conversations.ts";
import type { Provider } from "../../../wires/wire.ts";

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
export async function locateConversation(
  call: Call,
  id: string,
  provider: string | null,
): Promise<Result<ConversationPlace>> {
  const param = "conversation";
  const { owners, conversations } = call.state.objects;
  const [found, bound] = await Promise.all([
    conversations.find(id),
    owners.conversation.findBinding(id),
  ]);
  if (!found.ok) return found;
  if (!bound.ok) return bound;
  const kept = found.value;
  const isBound = bound.value !== null;
  if (kept !== null && !isBound) {
    return isVisible(call, kept.creator)
      ? success({ at: "here", kept })
      : unknownConversation(param);
  }
  const owned = resolveOwner(call, { param, provider }, bound.value);
  if (!owned.ok) return owned;
  return owned.value === null
    ? unknownConversation(param)
    : success({ at: "upstream", provider: owned.value.provider, isBound });
}
