/**
 * Extent of the record of a call: nothing, its figures, or its content too; `never` wins over what
 * any other place says. In the order of their strength.
 */
export const RECORD_CHOICES = ["none", "heads", "all", "never"] as const;

/** Extent of the record of a call, as a key, a group, a route or the default says. */
export type RecordChoice = (typeof RECORD_CHOICES)[number];

/** Returns the strongest of several choices; `none` without any. */
export function strongestChoice(choices: Iterable<RecordChoice | undefined>): RecordChoice {
  let index = 0;
  for (const choice of choices) {
    if (choice !== undefined) index = Math.max(index, RECORD_CHOICES.indexOf(choice));
  }
  return RECORD_CHOICES[index] ?? "none";
}
