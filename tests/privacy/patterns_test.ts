import { assertEquals } from "../support/assert.ts";
import { valuesOf } from "./rules.ts";

Deno.test("a pattern finds each of its matches, also at the borders of pieces", () => {
  const badge = "pattern: 'B-[0-9]{6}', max_length: 8, action: mask";
  assertEquals(valuesOf("B-123456 B-654321", badge), ["B-123456", "B-654321"]);
  for (const before of [65_528, 65_530, 65_535, 65_536]) {
    assertEquals(valuesOf(`${" ".repeat(before)}B-123456`, badge), ["B-123456"]);
  }
});

Deno.test("boundaries of words hold at the borders of pieces", () => {
  const badge = String.raw`pattern: '\bB[0-9]+', action: mask`;
  assertEquals(valuesOf(`${"x".repeat(65_536)}B12 B34`, badge), ["B34"]);
});

Deno.test("a longer match counts to max_length", () => {
  assertEquals(valuesOf("aaaaaaa", "pattern: 'a+', max_length: 3, action: mask"), [
    "aaa",
    "aaa",
    "a",
  ]);
});

Deno.test("of a pattern with a group value only that part counts", () => {
  const staff = "pattern: 'staff (?P<value>[0-9]{4})', action: mask";
  assertEquals(valuesOf("staff 1234, 5678", staff), ["1234"]);
});

Deno.test("contains looks at the whole string, however long it is", () => {
  const badge = "pattern: '[0-9]{6}', contains: [badge], action: mask";
  assertEquals(valuesOf(`123456 ${" ".repeat(200_000)} badge 654321`, badge), ["123456", "654321"]);
  assertEquals(valuesOf("123456", badge), []);
});

Deno.test("checks of digits accept examples and refuse each other digit", () => {
  const examples = {
    luhn: "79927398713",
    mod97: "3214282912345698765432161182",
    mod11: "0306406152",
    verhoeff: "2363",
  };
  for (const [check, number] of Object.entries(examples)) {
    const rule = `pattern: '[0-9X]+', check: ${check}, action: mask`;
    assertEquals(valuesOf(number, rule), [number], check);
    for (let at = 0; at < number.length; at++) {
      const other = (Number(number[at]) + 1) % 10;
      assertEquals(valuesOf(number.slice(0, at) + other + number.slice(at + 1), rule), [], check);
    }
  }
});

Deno.test("excepted values are no match", () => {
  const mail = "find: [email], except: [noreply@example.com], action: mask";
  assertEquals(valuesOf("noreply@example.com a@example.com", mail), ["a@example.com"]);
});
