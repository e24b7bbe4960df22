import { assertEquals } from "../../support/assert.ts";
import { valuesOf } from "../rules.ts";

const IBAN = "find: [iban], action: mask";

/** Examples of the registry of ISO 13616. */
const IBANS = [
  "GB29NWBK60161331926819",
  "DE89370400440532013000",
  "FR1420041010050500013M02606",
  "NO9386011117947",
  "MT84MALT011000012345MTLCAST001S",
];

Deno.test("account numbers are found with and without blanks, in any letter case", () => {
  for (const iban of IBANS) {
    const spaced = iban.replace(/(.{4})(?=.)/g, "$1 ");
    assertEquals(valuesOf(`pay ${iban}, ${spaced}; ${iban.toLowerCase()}`, IBAN), [
      iban,
      spaced,
      iban.toLowerCase(),
    ]);
    for (const blank of ["\u00a0", "\u202f"]) {
      const firm = spaced.replaceAll(" ", blank);
      assertEquals(valuesOf(`pay ${firm}.`, IBAN), [firm]);
    }
  }
});

Deno.test("no account number with one other digit is found", () => {
  for (const iban of IBANS) {
    for (const [at, character] of [...iban].entries()) {
      if (!/\d/.test(character)) continue;
      const other = iban.slice(0, at) + (Number(character) + 1) % 10 + iban.slice(at + 1);
      assertEquals(valuesOf(other, IBAN), [], other);
    }
  }
});

Deno.test("another length than that of the country, or an unknown country is no account", () => {
  for (
    const text of ["DE8937040044053201300", "DE893704004405320130001", "XX89370400440532013000"]
  ) {
    assertEquals(valuesOf(text, IBAN), [], text);
  }
});
