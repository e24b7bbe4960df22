import type { JsonObject } from "../../../core/json/json.ts";
import { changeMembers, type Entry, parseMembers, splice } from "../../../formats/edit.ts";

/** Members of a provider's Response objects that say what the gateway does, not what the provider does. */
export interface OwnMembers {
  /** ID of the local conversation to set; null leaves the member unchanged. */
  readonly conversation: string | null;
  /** True if `store` is set to false, because the gateway stores nothing. */
  readonly storesNothing: boolean;
}

/** Returns the members to set in a Response object: none if it has their values already. */
export function ownMembers(
  { store }: JsonObject,
  { conversation, storesNothing }: OwnMembers,
): readonly Entry[] {
  return [
    ...conversation === null
      ? []
      : [["conversation", JSON.stringify({ id: conversation })] as const],
    ...storesNothing && store !== false ? [["store", "false"] as const] : [],
  ];
}

/**
 * Returns the JSON text with these members set in the Response object that begins at `start`. All
 * other bytes stay unchanged. The text must be valid JSON.
 */
export function withMembers(text: string, start: number, entries: readonly Entry[]): string {
  return splice(text, changeMembers(start, parseMembers(text, start), entries));
}
