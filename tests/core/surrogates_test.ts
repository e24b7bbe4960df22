import { isFirstHalf, isSecondHalf } from "../../src/core/surrogates.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("each half of a character differs from all other code units, and from none at all", () => {
  const halves = ["\u{1f600}", "\u{10000}", "\u{10ffff}"];
  for (const one of halves) {
    const codes = [0, 1].map((at) => one.charCodeAt(at));
    assertEquals(codes.map(isFirstHalf), [true, false], one);
    assertEquals(codes.map(isSecondHalf), [false, true], one);
  }
  for (const code of [0, 0x61, 0xd7ff, 0xe000, 0xffff, NaN]) {
    assertEquals([isFirstHalf(code), isSecondHalf(code)], [false, false], String(code));
  }
});
