import wording, {
  forbiddenWords,
  numberComplaint,
  wideLines,
} from "../../../scripts/tools/wording.ts";
import { assertEquals } from "../../support/assert.ts";

const FILE = decodeURIComponent(new URL("../../../src/core/ids.ts", import.meta.url).pathname);

function complaints(source: string): string[] {
  return Deno.lint.runPlugin(wording, FILE, source).map(({ message }) => message);
}

// In pieces, so that this file does not break the rule itself.
const WORDS = [
  "to" + "ld",
  "te" + "ll",
  "te" + "lls",
  "so " + "many",
  "who" + "ever",
  "no" + "body",
];
WORDS.push("an" + "ew", "sta" + "nds", "goes " + "out", "left " + "alone", "the " + "others");
WORDS.push(
  "of its " + "own",
  "aw" + "ay",
  "be" + "side",
  "all the " + "same",
  "se" + "en",
  "go" + "t",
);
WORDS.push("ask" + "ed", "the" + "irs", "for " + "ever", "an " + "own", "goes " + "on");

Deno.test("a forbidden word is reported in each kind of comment", () => {
  for (const word of WORDS) {
    const expected = [`a comment says "${word}"`];
    assertEquals(complaints(`// The stream ${word} here.\nconst a = 1;`), expected, word);
    assertEquals(complaints(`/** The stream ${word} here. */\nconst a = 1;`), expected, word);
    assertEquals(complaints(`const a = 1; /* ${word.toUpperCase()} */`), expected, word);
  }
});

Deno.test("a forbidden phrase is found across the lines of a docstring", () => {
  assertEquals(forbiddenWords("*\n * A record so\n * many bytes long.\n "), ["so many"]);
  assertEquals(complaints("/**\n * A part of its\n * own.\n */\nconst a = 1;"), [
    'a comment says "of its own"',
  ]);
});

Deno.test("a comment with two forbidden words is reported once for each", () => {
  assertEquals(forbiddenWords(`${WORDS[0]} ${WORDS[5]} ${WORDS[0]}`), ["told", "nobody"]);
});

Deno.test("parts of longer words, code and other strings may contain a forbidden word", () => {
  const source = "// A toldish standstill.\nconst told = 1;\nprint('nobody is told');";
  assertEquals(complaints(source), []);
});

Deno.test("the name of code in a comment may be a forbidden word", () => {
  assertEquals(complaints("// Counts `asked` and `seen`.\nconst a = 1;"), []);
  assertEquals(forbiddenWords("`asked`, and not asked"), ["asked"]);
});

Deno.test("a docstring of src that begins with What is reported", () => {
  const message = 'a docstring begins with "What"';
  assertEquals(complaints("/** What a store has. */\nconst a = 1;"), [message]);
  assertEquals(complaints("/**\n * What a store has.\n */\nconst a = 1;"), [message]);
  assertEquals(complaints("/** Whatever it has. */\n// What it has.\nconst a = 1;"), []);
});

Deno.test("a message of src says provider and response, of a simulator what it is", () => {
  const message = "a message has another word for the provider or its response";
  assertEquals(complaints('const a = "The upstream fell silent.";'), [message]);
  assertEquals(complaints("const a = `The provider's answer has ${1}.`;"), [message]);
  assertEquals(complaints('const a = "The provider\'s response has no end.";'), []);
  const simulator = FILE.replace("/core/", "/simulator/");
  const source = 'const a = "The upstream fell silent.";';
  assertEquals(Deno.lint.runPlugin(wording, simulator, source), []);
});

Deno.test("a line of a comment with more than 100 characters is reported, at each indentation", () => {
  const message = "a line of a comment has more than 100 characters";
  for (const [begin, end] of [["// ", ""], ["/** ", " */"], ["/**\n * ", "\n */"], ["  // ", ""]]) {
    const lead = begin?.split("\n").at(-1) ?? "";
    const last = end?.split("\n")[0] ?? "";
    const words = (count: number) =>
      "a ".repeat(60).slice(0, count - lead.length - last.length - 1) + "b";
    assertEquals(complaints(`${begin}${words(100)}${end}\nconst a = 1;`), [], begin);
    assertEquals(complaints(`${begin}${words(101)}${end}\nconst a = 1;`), [message], begin);
  }
});

Deno.test("tags, table rows, single words and comments behind code are not folded", () => {
  const long = "a".repeat(120);
  for (
    const line of [` * @param {${long}} b c`, ` * | ${long} | b |`, ` * ${long}`, `// ${long}`]
  ) {
    assertEquals(wideLines(line), [], line);
  }
  assertEquals(complaints(`const a = 1; // ${"a ".repeat(60)}`), []);
  assertEquals(wideLines(` * b ${long}`).length, 1);
});

Deno.test("a forbidden word is reported in the name of a test and of a step", () => {
  const expected = ['a test name says "told"'];
  const sources = [
    'Deno.test("a client is told", () => {});',
    "Deno.test(`a ${client} is told`, () => {});",
    'Deno.test({ name: "a client is told", fn() {} });',
    'await t.step("a client is told", () => {});',
  ];
  for (const source of sources) assertEquals(complaints(source), expected, source);
  assertEquals(complaints('Deno.test("a client receives an error", () => {});'), []);
  assertEquals(complaints('regexp.test("told");'), []);
});

Deno.test("a numeric constant of a module needs a bound or a unit in its name", () => {
  const good = "MAX_TURNS MIN_BUFFER_BYTES DEFAULT_LIMIT IDLE_MS TTL_S FIRST_BUFFER_BYTES".split(
    " ",
  );
  for (
    const name of [...good, "NAME_CHARS", "USUAL_PORT", "JITTER_RATIO", "MIB", "LF", "SO_LINGER"]
  ) {
    assertEquals(complaints(`const ${name} = 16 * 1024;`), [], name);
    assertEquals(numberComplaint(name), null, name);
  }
  for (const name of ["LIMIT", "BYTES", "DELAY", "IDLE_MINUTES", "LIMIT_MAX", "S"]) {
    const message = `the number ${name} has neither bound nor unit in its name`;
    for (const value of ["7", "-7", "1_000", "16 * MIB", "2 ** 31 - 1", "60 + 1"]) {
      assertEquals(complaints(`const ${name} = ${value};`), [message], `${name} = ${value}`);
    }
    assertEquals(complaints(`export const ${name} = 7;`), [message], name);
  }
});

Deno.test("texts, lists, locals of functions and camelCase names need no unit", () => {
  const sources = [
    'const NAME = "a" + "b";',
    "const LIST = [1, 2];",
    "const LIMIT = configured();",
    "const limit = 7;",
    "function size() { const SIDE = 7; return SIDE; }",
  ];
  for (const source of sources) assertEquals(complaints(source), [], source);
});

Deno.test("a metaphor for a bound is refused in each constant, also inside a function", () => {
  for (const word of ["MOST", "LARGEST", "LONGEST", "SHORTEST", "DEEPEST", "PATIENCE", "GRACE"]) {
    const name = `${word}_MS`;
    const expected = [`the name ${name} says ${word}`];
    assertEquals(complaints(`const ${name} = 7;`), expected);
    assertEquals(complaints(`function f() { const ${name} = 7; return ${name}; }`), expected);
  }
  assertEquals(complaints("const MAX_MOSTLY_MS = 7;"), []);
});
