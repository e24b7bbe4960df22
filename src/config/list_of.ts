/**
 * Returns words as a list for a message, such as `a, b and c`. The formatter is made for each list:
 * it loads the language data of the runtime, which takes a tenth of the start of the gateway and
 * several MB of memory.
 */
export function listOf(
  words: readonly string[],
  type: "conjunction" | "disjunction",
): string {
  return new Intl.ListFormat("en-GB", { type }).format(words);
}
