import type { JsonObject } from "./json.ts";

/**
 * Yields the text of `JSON.stringify` in pieces: the elements of each array that is a member are pieces of
 * their own, so that the text of a long list is never in memory as a whole.
 */
export function* jsonPieces(value: JsonObject): Generator<string, void, void> {
  let separator = "{";
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const head = `${separator}${JSON.stringify(key)}:`;
    separator = ",";
    if (!Array.isArray(member)) {
      yield head + JSON.stringify(member);
      continue;
    }
    yield `${head}[`;
    for (const [index, element] of member.entries()) {
      const text = JSON.stringify(element);
      yield index === 0 ? text : `,${text}`;
    }
    yield "]";
  }
  yield separator === "{" ? "{}" : "}";
}

/** Returns the characters of all strings in a value, which are nearly all of a large one. */
export function stringChars(value: unknown): number {
  let chars = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") chars += next.length;
    else if (typeof next === "object" && next !== null) {
      for (const member of Object.values(next)) open.push(member);
    }
  }
  return chars;
}
