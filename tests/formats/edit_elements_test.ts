import fc from "fast-check";
import { parseElements, removeElements, splice } from "../../src/formats/edit.ts";
import { assertEquals } from "../support/assert.ts";
import { valueTexts } from "./json_texts.ts";

Deno.test("elements are removed with their commas, and all other bytes stay", () => {
  const text = '[ 1 , "a,]" ,{"b":2}\n, 1.0 ]';
  const without = (...indexes: number[]) =>
    splice(text, removeElements(parseElements(text), (index) => indexes.includes(index)));
  assertEquals(without(), text);
  assertEquals(without(0), '[ "a,]" ,{"b":2}\n, 1.0 ]');
  assertEquals(without(1, 2), "[ 1 , 1.0 ]");
  assertEquals(without(3), '[ 1 , "a,]" ,{"b":2} ]');
  assertEquals(without(0, 2), '[ "a,]" ,1.0 ]');
  assertEquals(without(0, 1, 2, 3), "[  ]");
});

Deno.test("removing elements leaves the elements that stay, each with its own text", () => {
  const lists = fc.array(fc.tuple(valueTexts, fc.boolean()), { maxLength: 8 });
  fc.assert(fc.property(lists, (items) => {
    const text = `[${items.map(([value]) => value).join(" , ")}]`;
    const edits = removeElements(parseElements(text), (index) => items[index]?.[1] === true);
    const after = splice(text, edits);
    const stay = items.filter(([, isRemoved]) => !isRemoved).map(([value]) => value.trim());
    assertEquals(parseElements(after).map(({ start, end }) => after.slice(start, end)), stay);
    if (stay.length < items.length) return;
    assertEquals(after, text);
  }));
});
