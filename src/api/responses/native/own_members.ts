import type { Shown } from "../../../store/bindings.ts";
import { errorMembers, shownMembers } from "../../stored/shown_object.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { changeMembers, type Edit, type Entry, parseMembers } from "../../../formats/edit.ts";

/**
 * Members of a provider's Response objects that say what the gateway does, not what the provider
 * does.
 */
export interface OwnMembers {
  /** ID of the local conversation to set; null leaves the member unchanged. */
  readonly conversation: string | null;
  /** True if `store` is set to false, because the gateway stores nothing. */
  readonly storesNothing: boolean;
  /** How the client of a named model sees the response; absent to leave it unchanged. */
  readonly shown?: Shown;
  /** Texts that errors do not quote; absent for none. */
  readonly hidden?: readonly string[];
}

/** Returns the members to set in a Response object: none if it has their values already. */
export function ownMembers(
  resource: JsonObject,
  { conversation, storesNothing, shown, hidden = [] }: OwnMembers,
): readonly Entry[] {
  const { store } = resource;
  return [
    ...conversation === null
      ? []
      : [["conversation", JSON.stringify({ id: conversation })] as const],
    ...storesNothing && store !== false ? [["store", "false"] as const] : [],
    ...shown === undefined ? [] : shownMembers(resource, shown),
    ...errorMembers(resource, hidden),
  ];
}

/**
 * Returns the edits of a JSON text that set these members in the Response object that begins at
 * `start`. The text must be valid JSON.
 */
export function memberEdits(
  text: string,
  start: number,
  entries: readonly Entry[],
): readonly Edit[] {
  return changeMembers(start, parseMembers(text, start), entries);
}
