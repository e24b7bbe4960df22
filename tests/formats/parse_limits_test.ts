import { isTooLargeToParse, parseProblem } from "../../src/formats/parse_limits.ts";
import { assertEquals } from "../support/assert.ts";

const MIB = 1024 * 1024;

/** A JSON text of this many bytes that is one string. */
function stringOf(bytes: number): Uint8Array {
  const text = new Uint8Array(bytes).fill(97);
  text[0] = text[bytes - 1] = 34;
  return text;
}

Deno.test("a JSON text of a provider is parsed up to 16 MiB, however few members it has", async () => {
  const sizes = [16 * MIB, 16 * MIB + 1];
  const found = sizes.map((bytes) => isTooLargeToParse(stringOf(bytes), () => null));
  assertEquals(await Promise.all(found), [false, true]);
  assertEquals(await parseProblem(stringOf(16 * MIB + 1), () => null), "too_large");
});
