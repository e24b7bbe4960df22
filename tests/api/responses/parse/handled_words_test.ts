import { RESPONSES_FIELDS } from "../../../../src/api/responses/parse/fields.ts";
import { isRefusal } from "../../../../src/core/failure/failure.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import type { Written } from "../../../support/translated.ts";
import { translate } from "../translated.ts";

const USER = { role: "user", content: "Hi" };
const TOOL = { type: "function", name: "look" };
const CALL = { type: "function_call", call_id: "c", name: "look", arguments: "{}" };

/** A place of a request where a word can be a field or the name of a variant. */
interface Place {
  /** Returns the request with this word at the place. */
  body(word: string): Written;
  /** Path of the refusal of a word that the code does not know. */
  readonly param: string;
  /** Returns the beginning of the table's rows for a word that the code knows. */
  row(word: string): string;
}

const PLACES: Readonly<Record<string, Place>> = {
  "top-level field": {
    body: (word) => ({ input: "Hi", [word]: word === "input" ? "Hi" : { a: 1 } }),
    param: "WORD",
    row: (word) => word,
  },
  "type of an item": {
    body: (word) => ({ input: [USER, { type: word }] }),
    param: "input[1].type",
    row: (word) => `input[${word}]`,
  },
  "role": {
    body: (word) => ({ input: [USER, { role: word, content: "x" }] }),
    param: "input[1].role",
    row: (word) => `input[message].role=${word}`,
  },
  "part of a user message": {
    body: (word) => ({ input: [{ role: "user", content: [{ type: word }] }] }),
    param: "input[0].content[0].type",
    row: (word) => `input[message].content[${word}]`,
  },
  "part of an assistant message": {
    body: (word) => ({ input: [USER, { role: "assistant", content: [{ type: word }] }] }),
    param: "input[1].content[0].type",
    row: (word) => `input[message].content[${word}]`,
  },
  "part of the output of a call": {
    body: (word) => ({
      input: [USER, CALL, { type: "function_call_output", call_id: "c", output: [{ type: word }] }],
    }),
    param: "input[2].output[0].type",
    row: (word) => `input[function_call_output].output[${word}]`,
  },
  "type of a tool": {
    body: (word) => ({ input: "Hi", tools: [{ type: word }] }),
    param: "tools[0].type",
    row: (word) => `tools[${word}]`,
  },
  "tool choice": {
    body: (word) => ({ input: "Hi", tools: [TOOL], tool_choice: word }),
    param: "tool_choice",
    row: (word) => `tool_choice=${word}`,
  },
  "type of a tool choice": {
    body: (word) => ({ input: "Hi", tools: [TOOL], tool_choice: { type: word } }),
    param: "tool_choice.type",
    row: (word) => `tool_choice[${word}]`,
  },
  "type of a format": {
    body: (word) => ({ input: "Hi", text: { format: { type: word } } }),
    param: "text.format.type",
    row: (word) => `text.format[${word}]`,
  },
  "member of text": {
    body: (word) => ({ input: "Hi", text: { [word]: "x" } }),
    param: "text.WORD",
    row: (word) => `text.${word}`,
  },
  "member of reasoning": {
    body: (word) => ({ input: "Hi", reasoning: { [word]: "x" } }),
    param: "reasoning.WORD",
    row: (word) => `reasoning.${word}`,
  },
};

const SOURCES = new URL("../../../../src/api/responses/parse/", import.meta.url);

const WORDS = new Set(
  [...Deno.readDirSync(SOURCES)].flatMap(({ name }) =>
    Deno.readTextFileSync(new URL(name, SOURCES)).match(/\b[a-z][a-z0-9_]*\b/g) ?? []
  ),
);

/** Kinds of the refusal of an unknown word; a wrong type is refused only of a known field. */
const UNKNOWN: readonly string[] = ["unsupported_feature", "invalid_value"];

function isKnown({ body, param }: Place, word: string): boolean {
  const chat = translate(JSON.stringify(body(word)), "compat");
  if (chat.ok) return !chat.value.lossy.includes(word);
  assert(isRefusal(chat.failure));
  if (!UNKNOWN.includes(chat.failure.kind)) return true;
  return chat.failure.at !== param.replace("WORD", word);
}

for (const [name, place] of Object.entries(PLACES)) {
  Deno.test(`translation: every word that its code knows as a ${name} has a row in its table`, () => {
    assert(WORDS.size > 300);
    const known = [...WORDS].filter((word) => isKnown(place, word));
    assert(known.length > 0);
    const rows = Object.keys(RESPONSES_FIELDS.rows);
    const isNamed = (word: string) =>
      rows.some((row) =>
        row.startsWith(place.row(word)) && !/\w/.test(row[place.row(word).length] ?? "")
      );
    assertEquals(known.filter((word) => !isNamed(word)), []);
  });
}
