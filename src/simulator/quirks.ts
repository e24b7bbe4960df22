/**
 * The deviations of a native Responses stream, selected as `sim-native-<quirk>`. The first four
 * keep the rules of the stream; each later one breaks exactly one rule.
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

/** The name of a native quirk. */
export type NativeQuirk = typeof NATIVE_QUIRKS[number];

/**
 * The quirks that can break their rule in the first event, selected as `sim-native-<quirk>-first`.
 */
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

/** The identity errors of a chat completion, selected as `sim-stored-<quirk>`. */
export const STORED_QUIRKS = ["no-id", "changing-id", "padded-id", "wrong-object"] as const;

/** The name of a stored-completion quirk. */
export type StoredQuirk = typeof STORED_QUIRKS[number];

/** The quirk of one response. A protocol that cannot show it ignores it. */
export type Quirk =
  | { readonly kind: "native"; readonly name: NativeQuirk; readonly first: boolean }
  | { readonly kind: "stored"; readonly name: StoredQuirk };

/** Returns the quirk of a `-first` model name; null if the name is not one. */
export function parseFirstEventQuirk(model: string): Quirk | null {
  const name = NATIVE_QUIRKS.find((quirk) => model === `sim-native-${quirk}-first`);
  return name === undefined || !FIRST_EVENT_QUIRKS.includes(name)
    ? null
    : { kind: "native", name, first: true };
}
