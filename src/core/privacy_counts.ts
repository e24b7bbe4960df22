/** Counts of one privacy rule in one call. */
export interface RuleCount {
  readonly rule: string;
  readonly phase: "request" | "response";
  readonly action: "refuse" | "mask" | "replace" | "monitor";
  count: number;
}

/**
 * Counts of what the privacy rules of a call have found and restored, for its header, log line and
 * metrics. It has names and counts, never a value or a token.
 */
export interface PrivacyCounts {
  /** Matches by rule and phase, in the order in which they were found first. */
  readonly matches: RuleCount[];
  /** Parts of the request that no rule can read, such as images. */
  unread: number;
  /** Tokens of the answer that became values again. */
  restored: number;
  /** Words of the answer in the form of a token that belong to no value of the call. */
  unknown: number;
  /** Unknown words in an object that was stored before; absent for any other answer. */
  unrestored?: number;
  /** Paths of the request that a provider keeps only in part because of tokens; absent for none. */
  lossy?: readonly string[];
  /** Milliseconds of the search. */
  searchMs: number;
}

/** Returns the counts of a call that has not been searched yet. */
export function newPrivacyCounts(): PrivacyCounts {
  return { matches: [], unread: 0, restored: 0, unknown: 0, searchMs: 0 };
}

/** Counts a match of a rule. */
export function countMatch(
  counts: PrivacyCounts,
  { name, phase, action }: Pick<RuleCount, "phase" | "action"> & { readonly name: string },
): void {
  const known = counts.matches.find(({ rule }) => rule === name);
  if (known !== undefined) known.count += 1;
  else counts.matches.push({ rule: name, phase, action, count: 1 });
}
