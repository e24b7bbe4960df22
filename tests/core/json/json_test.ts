import fc from "fast-check";
import {
  isObject,
  isTooDeep,
  MAX_LEVELS,
  numberOf,
  parseExact,
  parseJson,
} from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { longParses } from "../../support/long_parses.ts";

const NUMBERS = [
  "0",
  "-0",
  "1.0",
  "1.50",
  "1e5",
  "1E+2",
  "12345678901234567890",
  "0.0000001",
  "1234567.12345678901",
  "1e400",
  "-0.0",
];

Deno.test("parseExact keeps the text of numbers that JavaScript would write differently", () => {
  for (const text of NUMBERS) {
    const document = `{"a":${text},"b":[${text},"${text}"]}`;
    assertEquals(JSON.stringify(parseExact(document)), document);
  }
});

Deno.test("parseExact keeps the text of random numbers", () => {
  const digits = fc.stringMatching(/^[0-9]{1,25}$/);
  const number = fc.tuple(
    fc.constantFrom("", "-"),
    digits.map((text) => text.replace(/^0+(?=\d)/, "")),
    fc.option(digits, { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom("e", "E", "e+", "e-"), digits), { nil: undefined }),
  ).map(([sign, whole, fraction, exponent]) =>
    `${sign}${whole}${fraction === undefined ? "" : `.${fraction}`}${exponent?.join("") ?? ""}`
  );
  fc.assert(fc.property(number, (text) => {
    assertEquals(JSON.stringify(parseExact(`[${text}]`)), `[${text}]`);
  }));
});

Deno.test("a text whose value is known is parsed again only for the text of its numbers", () => {
  const padding = "x".repeat(1_000);
  const [plain, exact] = [`{"a":1.5,"b":"${padding}"}`, `{"a":1.0,"b":"${padding}"}`];
  for (const [text, expected] of [[plain, 0], [exact, 1]] as const) {
    const value = parseJson(text);
    using parses = longParses();
    assertEquals(JSON.stringify(parseExact(text, value)), text);
    assertEquals(parses.count(), expected);
  }
});

Deno.test("a number with its text is a number and not an object", () => {
  const value = parseExact('{"a":1.0}');
  assert(isObject(value));
  assertEquals(isObject(value.a), false);
  assertEquals(numberOf(value.a), 1);
  assertEquals(numberOf("1"), null);
});

Deno.test("a text that is not JSON is parsed as undefined", () => {
  for (const text of ["", "{", "1.", "nul", '{"a":1}x']) assertEquals(parseExact(text), undefined);
});

Deno.test("a value is too deep above the limit of levels, and levels beyond it are not counted", () => {
  const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  assertEquals(isTooDeep(nested(MAX_LEVELS)), false);
  assertEquals(isTooDeep(nested(MAX_LEVELS + 1)), true);
  assertEquals(isTooDeep(nested(100_000)), true);
  assertEquals(isTooDeep("text"), false);
});

Deno.test("a number with its text does not keep the text that it is a part of in memory", async () => {
  const program = new URL("held_numbers.ts", import.meta.url).pathname;
  const args = ["run", "--no-check", "--v8-flags=--expose-gc", program];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  const [count, heldBytes] = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(count, 20);
  assert(heldBytes < 10_000_000, `${heldBytes} bytes`);
});
