import { isOpaque, withoutMadeNumbers } from "../../src/privacy/classes.ts";
import { searchedNumber } from "../../src/privacy/collect_strings.ts";
import { SEALED_PREFIX } from "../../src/core/stream/sealed_text.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** More than the stack of the engine has for repetitions of a pattern. */
const LONG_CHARS = 8 * 1024 * 1024;

Deno.test("identifiers, numbers and seals may be as long as a request", () => {
  const digits = "4".repeat(LONG_CHARS);
  assertEquals(withoutMadeNumbers(`call_${digits}`).length, 5 + LONG_CHARS);
  assertEquals(searchedNumber(digits, 0, digits.length), digits);
  assert(isOpaque(`${SEALED_PREFIX}0123456789abcdef.${digits}`));
  assert(!isOpaque(`${SEALED_PREFIX}0123456789abcdef.${digits}!`));
});

Deno.test("the digits that providers make in an identifier are none, and those of a longer one are", () => {
  assertEquals(withoutMadeNumbers("call_4111111111111111"), `call_${"x".repeat(16)}`);
  assertEquals(withoutMadeNumbers("4111111111111111"), "4111111111111111");
  const long = `call_4111111111111111${"-".repeat(64 * 1024)}`;
  assertEquals(withoutMadeNumbers(long), long);
});
