import type { ObjectStore } from "../object_store.ts";
import { DEFAULT_RETENTION, type Retention } from "../retention.ts";
import { newMemoryConversations } from "./conversations.ts";
import { newMemoryBindings, newMemoryOwners } from "./owners.ts";
import { newMemoryReasoning } from "./reasoning.ts";
import { newMemoryResponses } from "./responses.ts";

/**
 * Returns an empty store in the memory of the process. It never fails, and every operation takes
 * effect before it returns its promise. `now` returns milliseconds that never go back.
 */
export function newMemoryObjectStore(
  now: () => number,
  retention: Retention = DEFAULT_RETENTION,
): ObjectStore {
  const responses = newMemoryResponses(now, retention);
  const conversations = newMemoryConversations(now, retention);
  const completionBindings = newMemoryBindings(now, retention);
  const conversationBindings = newMemoryBindings(now, retention);
  const relayedBindings = newMemoryBindings(now, retention);
  const reasoning = newMemoryReasoning(now, retention);
  return {
    responses: responses.responses,
    conversations: conversations.conversations,
    owners: {
      chat_completion: newMemoryOwners(completionBindings),
      conversation: newMemoryOwners(conversationBindings),
      relayed_object: newMemoryOwners(relayedBindings),
    },
    reasoning: reasoning.reasoning,
    stats: () => ({
      responses: responses.snapshotStats(),
      conversations: conversations.stats(),
      reasoning: reasoning.stats(),
      chat_completion_bindings: completionBindings.stats(),
      response_bindings: responses.bindingStats(),
      conversation_bindings: conversationBindings.stats(),
      relayed_object_bindings: relayedBindings.stats(),
    }),
  };
}
