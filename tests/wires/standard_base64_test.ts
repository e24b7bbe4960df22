import fc from "fast-check";
import { standardBase64 } from "../../src/wires/standard_base64.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("base64 of either alphabet, with white space and without padding, is standard base64", () => {
  const blank = fc.constantFrom("", "", " ", "\n", "\r\n", "\t");
  fc.assert(fc.property(
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
    fc.boolean(),
    fc.boolean(),
    fc.array(blank, { maxLength: 60 }),
    (bytes, isUrl, isPadded, blanks) => {
      const wanted = btoa(String.fromCharCode(...bytes));
      const own = isUrl ? wanted.replaceAll("+", "-").replaceAll("/", "_") : wanted;
      const text = isPadded ? own : own.replaceAll("=", "");
      const written = [...text].map((digit, at) => (blanks[at] ?? "") + digit).join("");
      assertEquals(standardBase64(written), wanted);
    },
  ));
});

Deno.test("what is no base64 is refused", () => {
  for (
    const text of [
      "",
      "=",
      "A",
      "AAAAA",
      "A=AA",
      "AA===",
      "AA.A",
      "AAA\u00e9",
      "AAA\u2028",
      "\u0141AAA",
    ]
  ) {
    assertEquals(standardBase64(text), null, text);
  }
  assertEquals(standardBase64("-_".repeat(1_000)), "+/".repeat(1_000));
});
