import fc from "fast-check";
import { newTokens } from "../../src/privacy/tokens.ts";
import { newCorePattern } from "../../src/privacy/token_form.ts";
import { search } from "../../src/privacy/search.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { rulesOf } from "./rules.ts";

const SECRET = new Uint8Array(32).fill(7);

Deno.test("a value has the same token wherever secret, scope and label are the same", () => {
  const token = newTokens(SECRET).take("bob@example.com", "email", "a");
  assertEquals(newTokens(SECRET).take("bob@example.com", "email", "a"), token);
  const others = [
    newTokens(new Uint8Array(32)).take("bob@example.com", "email", "a"),
    newTokens(SECRET).take("bob@example.com", "email", "b"),
    newTokens(SECRET).take("bob@example.com", "mail", "a"),
    newTokens(SECRET).take("bob@example.co", "email", "a"),
  ];
  for (const other of others) assert(other?.core !== token?.core);
});

Deno.test("each of many values has its own token of the form that answers are searched for", () => {
  const tokens = newTokens(SECRET);
  const cores = new Set<string>();
  for (let index = 0; index < 2_000; index++) {
    const { core = "" } = tokens.take(`value ${index}`, "x", "") ?? {};
    assert(new RegExp(`^${newCorePattern().source}$`).test(core), core);
    assertEquals(tokens.get(core)?.value, `value ${index}`);
    cores.add(core);
  }
  assertEquals([cores.size, tokens.size, [...tokens.values()].length], [2_000, 2_000, 2_000]);
});

Deno.test("a value keeps its first token, and there are at most 10,000", () => {
  const tokens = newTokens(SECRET);
  const first = tokens.take("a", "x", "one");
  assertEquals(tokens.take("a", "y", "two"), first);
  for (let index = 1; index < 10_000; index++) tokens.take(String(index), "x", "");
  assertEquals(tokens.take("one more", "x", ""), null);
  assertEquals(tokens.take("a", "x", ""), first);
});

Deno.test("a value keeps the token that an earlier call gave it, unless its label is another one or the token has another value", () => {
  const earlier = newTokens(SECRET).take("a", "x", "earlier") ?? undefined;
  assert(earlier !== undefined);
  const tokens = newTokens(SECRET);
  assertEquals(tokens.take("a", "x", "later", earlier), earlier);
  assertEquals(tokens.get(earlier.core), earlier);
  assertEquals(tokens.take("a", "x", "later"), earlier);
  const own = newTokens(SECRET).take("a", "y", "later");
  assertEquals(newTokens(SECRET).take("a", "y", "later", earlier), own);
  const taken = { ...earlier, value: "b" };
  const other = tokens.take("b", "x", "later", taken);
  assertEquals(other, newTokens(SECRET).take("b", "x", "later"));
  assertEquals([...tokens.values()].map(({ value }) => value), ["a", "b"]);
});

Deno.test("no rule ever matches a token, whatever is around it", () => {
  const rules = rulesOf(
    "find: [email, api_key, iban, phone], action: mask",
    "pattern: '[a-z]+', action: mask",
    "words: [email], action: mask",
  );
  const tokens = newTokens(SECRET);
  fc.assert(fc.property(fc.string(), fc.boolean(), (value, isUpper) => {
    const { core = "", label = "" } = tokens.take(value, "email", "") ?? {};
    const token = isUpper ? (core + label).toUpperCase() : core + label;
    for (const text of [token, `${token}@example.com`, `${core} x`, `mailto:${token}`]) {
      const at = text.indexOf(token.slice(0, 18));
      for (const { start, end } of search(text, rules)) {
        assert(end <= at || start >= at + 18, text.slice(start, end));
      }
    }
  }));
});
