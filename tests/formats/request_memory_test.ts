import { refuse } from "../../src/core/failure/result.ts";
import { parseRequest } from "../../src/formats/document.ts";
import { innerMemoryOf, memoryOf } from "../../src/formats/request_memory.ts";
import { sealText } from "../../src/core/stream/sealed_text.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** Limits of up to 2 MB more body memory, and the bytes that are held. */
function heldBytes() {
  const held: number[] = [];
  const limits = {
    maxItems: 200_000,
    hold(bytes: number) {
      held.push(bytes);
      return bytes > 2_000_000 ? refuse("overloaded", "full") : null;
    },
  };
  return { held, limits };
}

Deno.test("members, objects and lists count 40 bytes each in the body memory, as far as the text has fewer", () => {
  const { held, limits } = heldBytes();
  const list = (count: number) => `[${"{},".repeat(count - 1)}{}]`;
  const inside = JSON.stringify({ a: `{"b":${list(11_000)}}` });
  for (
    const [text, parts] of [
      // The outermost object, its member and the list.
      [`{"a":${list(11_000)}}`, 11_003],
      [`{"a":[${Array(6_000).fill('{"b":1}').join()}]}`, 2 * 6_000 + 3],
      [inside, 2 + 11_003],
    ] as const
  ) {
    assert(parseRequest(text, limits).ok);
    assertEquals(held.splice(0), [parts * 40 - text.length]);
  }
  const refused = parseRequest(`{"a":${list(80_000)}}`, limits);
  assert(!refused.ok);
  assertEquals(refused.failure.kind, "overloaded");
  assertEquals(held.splice(0).length, 1);
  // Short texts, longer members, and numbers.
  const fields = (count: number) =>
    JSON.stringify({ a: Array(count).fill({ content: "word: {[" }) });
  for (const text of [`{"a":${list(10_000)}}`, JSON.stringify({ a: Array(99_000).fill(12_345) })]) {
    assert(parseRequest(text, limits).ok);
  }
  assert(parseRequest(fields(1_500).replaceAll("word", "a word ".repeat(10)), limits).ok);
  assertEquals(held, [0, 0]);
});

Deno.test("a member whose key is an index or has an escape counts 200 bytes, and a number that may be kept as written 15", () => {
  const { held, limits } = heldBytes();
  const list = (item: string, count: number) => `[${Array(count).fill(item).join()}]`;
  const text = (item: string, count: number) => `{"a":${list(item, count)}}`;
  for (
    const [item, count, parts] of [
      ['{"34":0}', 3_700, 1 + 5],
      ['{"\\u0061":0}', 2_600, 1 + 5],
      ['{"b":34,"c":"34"}', 2_100, 1 + 2],
      ["1.0", 10_000, 15 / 40],
      ["1e3", 10_000, 15 / 40],
      ["-0", 12_000, 15 / 40],
      ["-1", 12_000, 0],
      ["true", 12_000, 0],
    ] as const
  ) {
    const written = text(item, count);
    assert(parseRequest(written, limits).ok);
    const bytes = Math.ceil((count * parts + 3) * 40);
    assertEquals(held.splice(0), [Math.max(0, bytes - written.length)], item);
    if (item.startsWith('{"\\')) continue;
    for (const blanks of ["", " ", "\t", "\r\n"]) {
      const inside = JSON.stringify({ a: blanks + written });
      assert(parseRequest(inside, limits).ok);
      assertEquals(
        held.splice(0),
        [Math.max(0, bytes + 2 * 40 - inside.length)],
        JSON.stringify([blanks, item]),
      );
    }
  }
});

Deno.test("JSON in a string counts the same however its marks and blanks are written", () => {
  const { held, limits } = heldBytes();
  const escaped = (character: string) =>
    `\\u00${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const list = `[${Array(4_000).fill('{"34":0}').join()}]`;
  const bytes = (4_000 * 6 + 1 + 2) * 40;
  for (
    const inside of [
      list,
      list.replaceAll('":', '" :'),
      list.replaceAll('":', '"\n\t:'),
      list.replaceAll("34", "\\u0033\\u0034"),
    ]
  ) {
    const text = JSON.stringify({ a: inside });
    for (
      const written of [
        text,
        ...["[", "{", ":", "}", "]"].map((mark) =>
          `{"a":"${text.slice(6, -2).replaceAll(mark, escaped(mark))}"}`
        ),
        `{"a":"${text.slice(6, -2).replaceAll('\\"', escaped('"'))}"}`,
      ]
    ) {
      assert(parseRequest(written, limits).ok);
      assertEquals(held.splice(0), [bytes - written.length], written.slice(0, 40));
    }
  }
  // JSON in strings of it is not parsed.
  assert(parseRequest(JSON.stringify({ a: JSON.stringify([list]) }), limits).ok);
  assertEquals(held.splice(0), [0]);
  // What is no string is refused by the parse.
  assert(!parseRequest(`{"a":"${"[".repeat(40_000)}\\x]"}`, limits).ok);
  assertEquals(held.splice(0), [0]);
});

Deno.test("lines of a log in a string count nothing, whatever they begin with", () => {
  const { held, limits } = heldBytes();
  const line = "[20:51:47.123] 10.0.0.1:80 a: ok. took 0.5 ms\n";
  for (const begin of ["", "\n", " ", "{"]) {
    const text = JSON.stringify({ a: begin + line.repeat(1_000) });
    assert(parseRequest(text, limits).ok);
    assertEquals(held.splice(0), [0], JSON.stringify(begin));
  }
  // One that may be JSON by its end counts, also behind blanks and as an escape.
  for (const end of ["]", "] \n\t", "\r\n}"]) {
    assert(parseRequest(JSON.stringify({ a: "[".repeat(40_000) + end }), limits).ok);
    assert((held.splice(0)[0] ?? 0) > 1_000_000, end);
  }
  assert(parseRequest(`{"a":"${"[".repeat(40_000)}\\u005d"}`, limits).ok);
  assert((held.splice(0)[0] ?? 0) > 1_000_000);
});

Deno.test("JSON in the texts of a stored item needs more memory than its text, other texts do not", () => {
  const json = `{"a":[${Array(100).fill('{"34":0}').join()}]}`;
  const bytes = (100 * 6 + 3) * 40 - json.length;
  for (const text of [json, ` ${json}\n`, `[${json}]`]) {
    const more = innerMemoryOf({ content: [{ arguments: text }, "word: {[", `so: ${text}`] });
    assert(more > bytes - 10 && more < bytes + 100, text.slice(0, 9));
  }
  assertEquals(innerMemoryOf({ content: "[12:00] a: b.", list: [1, null, "{", true] }), 0);
});

Deno.test("JSON in sealed texts of a request and of a stored item counts like the rest of it", () => {
  const { held, limits } = heldBytes();
  const list = `[${Array(5_000).fill('{"34":0}').join()}]`;
  const sealed = sealText(list);
  const text = JSON.stringify({ a: sealed, b: sealed.slice(0, -1), c: sealText("no ".repeat(40)) });
  assert(parseRequest(text, limits).ok);
  const bytes = (5_000 * 6 + 1) * 40;
  assertEquals(held, [bytes + 4 * 40 - text.length]);
  assertEquals(memoryOf(text), bytes + 4 * 40);
  assertEquals(innerMemoryOf({ encrypted_content: sealed }), bytes);
  for (const start of ["\\u0073w", "s\\u0077", "\\u0073\\u0077"]) {
    const written = `{"a":"${start}${sealed.slice(2)}"}`;
    assertEquals(memoryOf(written), bytes + 2 * 40, start);
  }
});

Deno.test("a sealed text of up to 128 characters counts 5 parts for each 8, and is not opened", () => {
  for (const [chars, parts] of [[100, 63], [128, 80], [132, 0]] as const) {
    const wrong = `switchyard1.0123456789abcdef.`.padEnd(chars, "a");
    const text = JSON.stringify({ a: Array(1_000).fill(wrong) });
    assertEquals(memoryOf(text), Math.max(text.length, (1_000 * parts + 3) * 40));
  }
});

Deno.test("what is like a sealed text within another text counts nothing and is not looked at again", () => {
  const sealed = sealText(`[${Array(9_000).fill('{"34":0}').join()}]`);
  for (
    const text of [`"${sealed}`, `"${sealed}"`, `so: "${sealed}`, '"switchyard1.'.repeat(100_000)]
  ) {
    const written = JSON.stringify({ a: text });
    assertEquals(memoryOf(written), written.length);
  }
});

Deno.test("a request that the gateway has written counts like one that it parses", () => {
  const list = (count: number) => `[${Array(count).fill("{}").join()}]`;
  assertEquals([memoryOf(list(10_000)), memoryOf(list(11_000))], [30_001, 11_001 * 40]);
  assertEquals(memoryOf(JSON.stringify(["x".repeat(40_000)])), 40_004);
});
