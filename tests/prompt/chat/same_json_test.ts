import fc from "fast-check";
import { isObject, type JsonValue, parseExact } from "../../../src/core/json/json.ts";
import { equalsJson, equalsJsonText } from "../../../src/prompt/chat/same_json.ts";
import { assert, assertEquals } from "../../support/assert.ts";

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, reversed(member ?? null)]);
  return Object.fromEntries(entries.toReversed());
}

function json(given: unknown): JsonValue {
  return JSON.parse(JSON.stringify(given));
}

Deno.test("equal values are equal in any order of members and with any spelling of numbers", () => {
  fc.assert(fc.property(fc.jsonValue(), (given) => {
    const value = json(given);
    assert(equalsJson(value, reversed(value)));
    assert(equalsJsonText(reversed(value), JSON.stringify(value)));
  }));
  assert(
    equalsJson(parseExact("[1.0, 1e2, 12345678901234567890]"), [1, 100, 12345678901234567000]),
  );
});

Deno.test("values that differ anywhere are not equal", () => {
  const cases: readonly [JsonValue, JsonValue | undefined][] = [
    [1, 2],
    [1, "1"],
    [0, null],
    [0, false],
    [null, undefined],
    [[], {}],
    [[1], [1, 2]],
    [{ a: 1 }, { a: 1, b: null }],
    [{ a: null }, { b: null }],
    [{ a: [{ b: 1 }] }, { a: [{ b: 2 }] }],
    [{ toString: null }, {}],
  ];
  for (const [one, other] of cases) {
    assertEquals(equalsJson(one, other), false);
    if (other !== undefined) assertEquals(equalsJson(other, one), false);
  }
  assertEquals(equalsJsonText({}, "{"), false);
});

Deno.test("two values are equal only if their JSON is", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
    const [a, b] = [json(one), json(other)];
    const sorted = (value: JsonValue): string =>
      isObject(value)
        ? `{${
          Object.keys(value).toSorted().map((key) =>
            `${JSON.stringify(key)}:${sorted(value[key] ?? null)}`
          )
        }}`
        : Array.isArray(value)
        ? `[${value.map(sorted)}]`
        : JSON.stringify(value);
    assertEquals(equalsJson(a, b), sorted(a) === sorted(b));
  }));
});
