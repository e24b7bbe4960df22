import fc from "fast-check";
import {
  changedObject,
  changeMembers,
  findValue,
  insertMembers,
  parseElements,
  parseMembers,
  removeMembers,
  replaceValue,
  splice,
} from "../../src/formats/edit.ts";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { objectTexts, objectTextsWithRepeatedKeys, valueTexts } from "./json_texts.ts";

const SAMPLE = ' {"a" : 1 ,\n"b\\u0041":{"x":[1, "}\\\\\\"" ,{}]} , "":null}';

Deno.test("members are returned with decoded keys and the positions of their values", () => {
  const members = parseMembers(SAMPLE);
  assertEquals(members.map((member) => member.key), ["a", "bA", ""]);
  assertEquals(members.map(({ start, end }) => SAMPLE.slice(start, end)), [
    "1",
    '{"x":[1, "}\\\\\\"" ,{}]}',
    "null",
  ]);
  assertEquals(members.map(({ keyStart }) => SAMPLE.slice(keyStart, keyStart + 2)), [
    '"a',
    '"b',
    '""',
  ]);
});

Deno.test("members of a nested object are returned", () => {
  assertEquals(parseMembers(SAMPLE, SAMPLE.indexOf('{"x"')).map((member) => member.key), ["x"]);
});

Deno.test("an empty object has no members and an empty array no elements", () => {
  assertEquals(parseMembers(" { } "), []);
  assertEquals(parseElements(" [ ] "), []);
});

Deno.test("other values have neither members nor elements", () => {
  for (const text of ["1", '"{}"', "null", " true"]) {
    assertEquals(parseMembers(text), []);
    assertEquals(parseElements(text), []);
  }
  assertEquals(parseMembers("[{}]"), []);
  assertEquals(parseElements('{"a":[]}'), []);
});

Deno.test("a value is found by its path, the last of equal keys as JSON.parse takes it", () => {
  const text = '{"a":[0,{"b":"no","b":"yes"}]}';
  const span = findValue(text, ["a", 1, "b"]);
  assertEquals(span && text.slice(span.start, span.end), '"yes"');
  assertEquals(findValue(text, ["a", 2]), null);
  assertEquals(findValue(text, ["a", "b"]), null);
  assertEquals(findValue(text, [0]), null);
  assertEquals(findValue(" 12 ", []), { start: 1, end: 3 });
});

Deno.test("edits are made in any order", () => {
  const edits = [{ start: 4, end: 5, text: "" }, { start: 0, end: 1, text: "A" }, {
    start: 4,
    end: 4,
    text: "-",
  }];
  assertEquals(splice("abcdef", edits), "Abcd-f");
  assertEquals(splice("abcdef", []), "abcdef");
});

Deno.test("a member is removed together with one comma", () => {
  const text = '{ "a":1 , "b":2 , "c":3 }';
  const members = parseMembers(text);
  assertEquals(["a", "b", "c"].map((key) => splice(text, removeMembers(members, [key]))), [
    '{ "b":2 , "c":3 }',
    '{ "a":1 , "c":3 }',
    '{ "a":1 , "b":2 }',
  ]);
  assertEquals(splice('{ "a":1 }', removeMembers(parseMembers('{ "a":1 }'), ["a"])), "{  }");
});

Deno.test("members are inserted at the front, also in an empty object", () => {
  assertEquals(
    splice("{ }", [insertMembers("{ }", 0, [["k", "1"], ['"', "[]"]])]),
    '{"k":1,"\\"":[] }',
  );
  assertEquals(splice('{"a":1}', [insertMembers('{"a":1}', 0, [["k", "2"]])]), '{"k":2,"a":1}');
  assertEquals(splice('{"a":1}', [insertMembers('{"a":1}', 0, [])]), '{"a":1}');
});

Deno.test("the spans of members and elements hold the values that JSON.parse returns for them", () => {
  fc.assert(fc.property(objectTextsWithRepeatedKeys, (text) => {
    const members = parseMembers(text);
    const read = members.map(({ key, start, end }) => [key, parseJson(text.slice(start, end))]);
    assertEquals(asObject(read), parseJson(text));
  }));
  fc.assert(fc.property(fc.array(valueTexts), (values) => {
    const text = ` [${values.join(" ,")}] `;
    const read = parseElements(text).map(({ start, end }) => parseJson(text.slice(start, end)));
    assertEquals<unknown>(read, parseJson(text));
  }));
});

Deno.test("a path leads to the same value in the text and in the parsed value", () => {
  fc.assert(fc.property(fc.array(valueTexts, { minLength: 1 }), fc.nat(), (values, pick) => {
    const index = pick % values.length;
    const text = `{"x":{},"y":[{"z":1},{"values":[${values.join(",")}]}]}`;
    const span = findValue(text, ["y", 1, "values", index]);
    assertEquals(
      span && parseJson(text.slice(span.start, span.end)),
      parseJson(values[index] ?? ""),
    );
  }));
});

Deno.test("replacing a value changes no other character", () => {
  fc.assert(fc.property(objectTexts, fc.nat(), valueTexts, (text, pick, value) => {
    const members = parseMembers(text);
    const member = members[pick % Math.max(members.length, 1)];
    if (member === undefined) return;
    const edited = splice(text, [replaceValue(member, value)]);
    assertEquals(edited, text.slice(0, member.start) + value + text.slice(member.end));
    const whole = parseJson(text);
    assert(isObject(whole));
    assertEquals(parseJson(edited), { ...whole, [member.key]: parseJson(value) });
  }));
});

Deno.test("removing members keeps the text and the order of the rest", () => {
  fc.assert(fc.property(objectTextsWithRepeatedKeys, fc.array(fc.nat(12)), (text, picks) => {
    const members = parseMembers(text);
    const keys = picks.map((pick) => members[pick]?.key ?? "never there");
    const edited = splice(text, removeMembers(members, keys));
    const stays = members.filter((member) => !keys.includes(member.key));
    assertEquals(partsOf(edited), stays.map(({ keyStart, end }) => text.slice(keyStart, end)));
    assert(parseJson(edited) !== undefined);
  }));
});

Deno.test("members can be set, added and removed together", () => {
  const changes = fc.array(fc.tuple(fc.nat(12), fc.option(valueTexts)));
  fc.assert(fc.property(objectTexts, changes, fc.boolean(), (text, picks, clear) => {
    const members = parseMembers(text);
    const wanted = new Map<string, string | null>();
    if (clear) { for (const member of members) wanted.set(member.key, null); }
    for (const [pick, value] of picks) wanted.set(members[pick]?.key ?? `new ${pick}`, value);
    const edits = changeMembers(text.indexOf("{"), members, [...wanted]);
    const whole = parseJson(text);
    assert(isObject(whole));
    const expected = new Map<string, unknown>(Object.entries(whole));
    for (const [key, value] of wanted) {
      if (value === null) expected.delete(key);
      else expected.set(key, parseJson(value));
    }
    assertEquals(parseJson(splice(text, edits)), asObject([...expected]));
  }));
});

function partsOf(text: string): string[] {
  return parseMembers(text).map(({ keyStart, end }) => text.slice(keyStart, end));
}

/** As `JSON.parse` makes it: `__proto__` is a key like any other. */
function asObject(entries: readonly unknown[][]): unknown {
  return Object.fromEntries(entries);
}

Deno.test("more equal keys than a call takes arguments are changed one by one", () => {
  const count = 200_000;
  const text = `{${'"a":1,'.repeat(count)}"b":2}`;
  const edits = changeMembers(0, parseMembers(text), [["a", "3"], ["b", null]]);
  assertEquals(splice(text, edits), `{${'"a":3,'.repeat(count - 1)}"a":3}`);
});

Deno.test("the members of a changed object are where a parse of its text finds them", () => {
  const values = fc.option(fc.constantFrom("1", '"x"', "[1,{}]", "true"), { nil: null });
  const keys = fc.constantFrom("a", "b", "type", "stream", 'q"', "é");
  const changesOf = fc.uniqueArray(fc.tuple(keys, values), { selector: ([key]) => key });
  const own = fc.tuple(
    fc.array(fc.tuple(keys, fc.constantFrom("1", '{"a":[2]}', '"\\u0041"', " null "))),
    fc.constantFrom("", " ", "\n"),
  ).map(([members, blank]) => {
    const written = members.map(([key, value]) => `${JSON.stringify(key)}${blank}:${value}`);
    return `${blank}{${blank}${written.join(`${blank},`)}${blank}}${blank}`;
  });
  fc.assert(
    fc.property(fc.oneof(own, objectTexts), changesOf, (text, changes) => {
      const members = parseMembers(text);
      const changed = changedObject(text, members, changes);
      assertEquals(
        changed.text,
        splice(text, changeMembers(text.indexOf("{"), members, changes)),
      );
      assertEquals(changed.members, parseMembers(changed.text));
    }),
    { numRuns: 250 },
  );
});

Deno.test("many changes of an object are the same as a few", () => {
  const text = '{"a":1,"b":2,"a":3,"c":4,"d":5}';
  const members = parseMembers(text);
  const few = [["a", "9"], ["c", null], ["new", "7"], ["d", null]] as const;
  const absent = Array.from({ length: 30 }, (_, at) => [`absent${at}`, null] as const);
  const edited = (...changes: readonly (readonly [string, string | null])[]) =>
    splice(text, changeMembers(0, members, changes));
  assertEquals(edited(...few), '{"new":7,"a":9,"b":2,"a":9}');
  assertEquals(edited(...few, ...absent), edited(...few));
  const all = [["a", null], ["b", null], ["c", null], ["d", null], ["new", "7"]] as const;
  assertEquals(edited(...all, ...absent), '{"new":7}');
});
