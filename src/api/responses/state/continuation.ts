import type { Refusal } from "../../../core/failure/failure.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { Failed } from "../../../core/failure/result.ts";
import type { RequiredTarget } from "../../../call/inference.ts";
import type { HistoryItem } from "../history_item.ts";

/** Earlier response or conversation that a request continues, with everything looked up. */
export type Continuation =
  | { readonly kind: "none" }
  | {
    /** The gateway has all items itself, oldest first. */
    readonly kind: "local";
    readonly history: readonly JsonObject[];
    /** ID of the local conversation that gets the items of the turn. */
    readonly conversation: string | null;
    /** Target of the earlier response; null if the routes decide. */
    readonly owner: RequiredTarget | null;
  }
  | {
    /** The upstream stores a response, and the gateway only the items that came after it. */
    readonly kind: "upstream_response";
    readonly previousResponseId: string;
    readonly tail: readonly JsonObject[];
    readonly owner: RequiredTarget;
  }
  | { readonly kind: "upstream_conversation"; readonly owner: RequiredTarget };

/** The continuation of a request that refers to nothing earlier. */
export const NO_CONTINUATION: Continuation = { kind: "none" };

/** A create request with everything looked up that it refers to. */
export interface ResolvedRequest {
  readonly continuation: Continuation;
  /** Its earlier items as they are stored, if providers may get others; absent otherwise. */
  readonly earlier?: readonly JsonObject[];
  /** New input items; references are replaced by the items they name, where these are known. */
  readonly added: readonly HistoryItem[];
  /** Refusal of the first reference to an unknown item; null if all items are known. */
  readonly missing: Failed<Refusal> | null;
  /** Bare name of the requested model; null if the client leaves the model open. */
  readonly requestedModel: string | null;
}

/** Returns the target that must serve the request; null if the routes decide. */
export function requiredTarget(continuation: Continuation): RequiredTarget | null {
  switch (continuation.kind) {
    case "none":
      return null;
    case "local":
    case "upstream_response":
    case "upstream_conversation":
      return continuation.owner;
  }
}

/** Returns the earlier items that the gateway itself has, oldest first. */
export function storedHistory(continuation: Continuation): readonly JsonObject[] {
  switch (continuation.kind) {
    case "local":
      return continuation.history;
    case "upstream_response":
      return continuation.tail;
    case "none":
    case "upstream_conversation":
      return [];
  }
}

/** Returns the continuation with other earlier items. */
export function withHistory(
  continuation: Continuation,
  history: readonly JsonObject[],
): Continuation {
  switch (continuation.kind) {
    case "local":
      return { ...continuation, history };
    case "upstream_response":
      return { ...continuation, tail: history };
    case "none":
    case "upstream_conversation":
      return continuation;
  }
}

/** Returns the stored items that a request names, of which its body has the IDs only. */
export function namedItems(
  { continuation, added }: Pick<ResolvedRequest, "continuation" | "added">,
): readonly JsonObject[] {
  const referenced = added.filter(({ isStored }) => isStored === true).map(({ item }) => item);
  const history = storedHistory(continuation);
  return referenced.length === 0 ? history : [...history, ...referenced];
}

/** Returns the number of the items of a request with those before it. */
export function itemCount(
  { continuation, added }: Pick<ResolvedRequest, "continuation" | "added">,
) {
  return storedHistory(continuation).length + added.length;
}

/** Returns the ID of the local conversation that the request belongs to. */
export function localConversation(continuation: Continuation): string | null {
  switch (continuation.kind) {
    case "local":
      return continuation.conversation;
    case "none":
    case "upstream_response":
    case "upstream_conversation":
      return null;
  }
}

/**
 * Returns whether the gateway has all items before the new ones, so that it can store the whole.
 */
export function isHistoryComplete(continuation: Continuation): boolean {
  switch (continuation.kind) {
    case "none":
    case "local":
      return true;
    case "upstream_response":
    case "upstream_conversation":
      return false;
  }
}
