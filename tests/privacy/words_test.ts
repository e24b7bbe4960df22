import { assert, assertEquals } from "../support/assert.ts";
import { valuesOf } from "./rules.ts";

const WORDS = 'words: [Kingfisher, "Blue Falcon", "C++", Blue, "Falcon Nine"], action: mask';

Deno.test("words and phrases are found in any letter case, with any white space", () => {
  assertEquals(valuesOf("KINGFISHER, blue \n falcon's c++.", WORDS), [
    "KINGFISHER",
    "blue \n falcon",
    "c++",
  ]);
});

Deno.test("the letters of an escape are no part of a word in JSON inside a text", () => {
  const text = String.raw`{"a":"x\nKingfisher\tblue falcon\u003ckingfisher\u003e\r\nC++"}`;
  assertEquals(valuesOf(text, WORDS), ["Kingfisher", "blue falcon", "kingfisher", "C++"]);
  // In the arguments of a tool that are code a backslash is escaped itself.
  assertEquals(valuesOf(String.raw`"x\\nKingfisher" \xkingfisher`, WORDS), ["Kingfisher"]);
  assertEquals(valuesOf("?q=about%20Kingfisher&%ag=x", WORDS), ["Kingfisher"]);
  assertEquals(valuesOf("\x1b[1;31mKingfisher\x1b[m [31mKingfisher", WORDS), ["Kingfisher"]);
  assertEquals(valuesOf(String.raw`C:\notes\x`, "words: [notes, otes], action: mask"), ["notes"]);
});

Deno.test("words of letters beyond ASCII are found in any letter case, also where another case is longer", () => {
  const rule = 'words: ["İstanbul", "Blue ΟΔΟΣ", "𠮷野家", "Straße"], action: mask';
  for (
    const text of [
      "İstanbul",
      "İSTANBUL",
      "Blue ΟΔΟΣ",
      "blue οδος",
      "𠮷野家",
      "STRASSE",
      "straße",
      "STRAẞE",
    ]
  ) {
    assertEquals(valuesOf(`(${text})`, rule), [text]);
    assertEquals(valuesOf(`${text}野 x${text}`, rule), [], text);
  }
  assertEquals(valuesOf("😀𠮷野家😀", rule), ["𠮷野家"]);
  for (const text of ["İSTANBUL", "istanbul", "Blue İZMİR"]) {
    assertEquals(valuesOf(`(${text})`, 'words: [istanbul, "blue izmir"], action: mask'), [text]);
  }
  for (const form of ["Blue İzmir", "blue i\u0307zmir", "BLUE I\u0307ZMI\u0307R", "blue ızmir"]) {
    assertEquals(valuesOf(`(${form})`, 'words: ["Blue İzmir"], action: mask'), [form]);
  }
  assertEquals(valuesOf("blue izm\u0307ir", 'words: ["Blue İzmir"], action: mask'), []);
});

Deno.test("a letter with accents and the letter before its accents are the same", () => {
  const names = ["Müller", "Blue Ärzte", "Émile", "Nguyễn"];
  for (const form of ["NFC", "NFD"]) {
    const rule = `words: [${
      names.map((name) => `"${name.normalize(form)}"`).join(", ")
    }], action: mask`;
    for (const name of names.flatMap((one) => [one, one.toUpperCase()])) {
      for (const text of [name.normalize("NFC"), name.normalize("NFD")]) {
        assertEquals(valuesOf(`(${text}) ${text}s`, rule), [text]);
      }
    }
  }
  const plain = 'words: [Muller, "Blue Arzt"], action: mask';
  assertEquals(valuesOf("Müller, blue Ärzt, blue Arzt́".normalize("NFD"), plain), []);
  assertEquals(valuesOf("\u2764\ufe0fMuller", plain), ["Muller"]);
});

Deno.test("of a word and a phrase that begins with it the phrase is found", () => {
  assertEquals(valuesOf("blue falcon, blue", WORDS), ["blue falcon", "blue"]);
});

Deno.test("of many phrases with the same first word each is found, and a text that repeats the word takes no longer for them", () => {
  const names = (count: number) =>
    Array.from({ length: count }, (_, at) => `"Dr. No${at}", "Dr. No${at} II"`).join(", ");
  const rule = (count: number) => `words: [Dr, "Dr.!", ${names(count)}], action: mask`;
  assertEquals(valuesOf("dr. no7 ii, Dr.\nNo1999 I, Dr. No20000, Dr.! (dr.)", rule(2_000)), [
    "dr. no7 ii",
    "Dr.\nNo1999",
    "Dr",
    "Dr.!",
    "dr",
  ]);
  const [few = 0, many = 0] = [2, 2_000].map((count) =>
    looksDuring(() => valuesOf("Dr. No ".repeat(1_000), rule(count)))
  );
  assert(few > 1_000 && many < 2 * few, `${few}, ${many}`);
});

/** Returns how often characters are looked at behind a first word. */
function looksDuring(work: () => void): number {
  const { codePointAt } = String.prototype;
  let looks = 0;
  String.prototype.codePointAt = function (at) {
    looks++;
    return codePointAt.call(this, at);
  };
  try {
    work();
  } finally {
    String.prototype.codePointAt = codePointAt;
  }
  return looks;
}

Deno.test("a part of a word is no word", () => {
  assertEquals(valuesOf("kingfishers kingfisher_x xblue blué", WORDS), []);
});

Deno.test("phrases are found at the borders of pieces of a long text", () => {
  for (const before of [65_520, 65_529, 65_530, 65_534, 65_536, 65_540]) {
    assertEquals(valuesOf(`${" ".repeat(before)}Falcon Nine.`, WORDS), ["Falcon Nine"]);
  }
});
