/**
 * A `security` section with the keys `key-of-ada` and `key-of-bob`, whose names are `ada` and
 * `bob`; `ofBob` are further settings of the second one.
 */
export function twoKeys(more = "", ofBob = ""): string {
  const keys = [["ada", ""], ["bob", ofBob]]
    .map(([name, own]) => `{name: ${name}, value: key-of-${name}${own}}`).join(", ");
  return `security: {enabled: true, api_key: {keys: [${keys}]}${more}}\n`;
}

/** The same with one key only, which is called `ada` and has another value. */
export const ROTATED =
  "security: {enabled: true, api_key: {keys: [{name: ada, value: second-key-of-ada}]}}\n";

/** The headers that a client of this name sends. */
export function keyOf(name: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer key-of-${name}` };
}
