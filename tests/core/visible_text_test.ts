import { visible, visibleLines } from "../../src/core/visible_text.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("characters that a terminal would act on or not show become escapes of JSON", () => {
  assertEquals(
    visible("a\u2028b\u0000\u009b\n\u{e0001}ü😀"),
    "a\\u2028b\\u0000\\u009b\\u000a\\udb40\\udc01ü😀",
  );
  assertEquals(visible("g\u034fp\u3164\u2800\u2764\ufe0f"), "g\\u034fp\\u3164\\u2800\u2764\ufe0f");
});

Deno.test("a JSON text keeps its value and its lines when such characters become escapes", () => {
  const value = { "n\u202e": "\u{e0041}\u007f\u009b31m \ud800 👩‍👧", line: "a\nb" };
  const text = visibleLines(JSON.stringify(value, null, 2));
  assertEquals(JSON.parse(text), value);
  assertEquals(text.split("\n").length, 4);
  assertEquals([...text.matchAll(/[\p{Cf}\p{Cs}\x7f-\x9f]/gu)], []);
});
