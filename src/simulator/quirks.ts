/**
 * How a native Responses stream departs from the plain one, as `sim-native-<quirk>`. The first ones
 * are within the rules; each of the others breaks exactly one of them.
 */
export const NATIVE_QUIRKS = [
  "gaps",
  "comments",
  "failed",
  "cancelled",
  "no-sequence",
  "sequence-repeats",
  "sequence-text",
  "sequence-fraction",
  "sequence-negative",
  "two-ids",
  "terminal-id",
  "padded-id",
  "empty-id",
  "no-id",
  "event-mismatch",
  "status-mismatch",
  "no-response",
  "no-terminal",
  "early-done",
  "two-terminals",
  "not-json",
  "not-object",
  "too-many-comments",
  "status-202",
  "status-503",
  "later-id",
] as const;

/** One of them. */
export type NativeQuirk = typeof NATIVE_QUIRKS[number];

/** Those that can break their rule in the first event as well, as `sim-native-<quirk>-first`. */
const FIRST_EVENT_QUIRKS: readonly string[] = [
  "no-sequence",
  "sequence-text",
  "sequence-fraction",
  "padded-id",
  "empty-id",
  "no-id",
  "no-response",
  "not-json",
  "not-object",
];

/** How the identity of a chat completion is wrong, as `sim-stored-<quirk>`. */
export const STORED_QUIRKS = ["no-id", "changing-id", "padded-id", "wrong-object"] as const;

/** One of them. */
export type StoredQuirk = typeof STORED_QUIRKS[number];

/** The oddity of one answer; other voices than the one it is made for do not show it. */
export type Quirk =
  | { readonly kind: "native"; readonly name: NativeQuirk; readonly first: boolean }
  | { readonly kind: "stored"; readonly name: StoredQuirk };

/** The quirk in the name of a model that breaks its rule in the first event; null when there is none. */
export function parseFirstEventQuirk(model: string): Quirk | null {
  const name = NATIVE_QUIRKS.find((quirk) => model === `sim-native-${quirk}-first`);
  return name === undefined || !FIRST_EVENT_QUIRKS.includes(name)
    ? null
    : { kind: "native", name, first: true };
}
