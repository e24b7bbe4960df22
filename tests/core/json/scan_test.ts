import fc from "fast-check";
import { type JsonValue, parseJson } from "../../../src/core/json/json.ts";
import { hasMoreItems } from "../../../src/core/json/scan.ts";
import { valueTexts } from "../../formats/json_texts.ts";
import { assertEquals } from "../../support/assert.ts";

/**
 * Members and elements of all levels; keys that come twice are members, too, and one with an escape
 * is 40.
 */
function itemsOf(value: JsonValue | undefined): number {
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + 1 + itemsOf(one), 0);
  const itemsOfKey = (key: string) => JSON.stringify(key).includes("\\") ? 40 : 1;
  return Object.entries(value).reduce((sum, [key, one]) => sum + itemsOfKey(key) + itemsOf(one), 0);
}

Deno.test("members and elements of all levels count, empty containers hold none", () => {
  const cases: readonly (readonly [text: string, items: number])[] = [
    ["{}", 0],
    ["[ ]", 0],
    ['{"a":1}', 1],
    ["[[[]]]", 2],
    ['[1,2,"a,b",{"c":[null , true]}]', 7],
    ['{"a":"\\\\","b":["\\n"],"c":"}"}', 4],
    ['{"a\\",[":"\\\\","b":{"c":[]}}', 42],
    ['[{"\\n" :1},{"a":"\\n"},{"\\u0061":"\\n"}]', 3 + 40 + 1 + 40],
    ["[[],[],{}]", 3],
    ['{"a":1,"a":2}', 2],
  ];
  for (const [text, items] of cases) {
    // Blanks make it long enough to be counted at all.
    const padded = text + " ".repeat(2 * items + 2);
    assertEquals(hasMoreItems(padded, items), false, text);
    if (items > 0) assertEquals(hasMoreItems(padded, items - 1), true, text);
  }
});

Deno.test("any text of JSON has exactly the members and elements that its value has", () => {
  fc.assert(fc.property(valueTexts, fc.nat({ max: 3 }), (written, indent) => {
    const value = parseJson(written);
    // Each key once, as the value has it.
    const text = JSON.stringify(value, null, indent);
    const items = itemsOf(value);
    const padded = text + " ".repeat(2 * items + 2);
    assertEquals(hasMoreItems(padded, items), false);
    if (items > 0) assertEquals(hasMoreItems(padded, items - 1), true);
  }));
});

Deno.test("counting items stops at the first item above the limit", () => {
  const endless = "[" + "1,".repeat(100);
  assertEquals(hasMoreItems(endless, 99), true);
  assertEquals(hasMoreItems(endless.repeat(2), 1_000), false);
});
