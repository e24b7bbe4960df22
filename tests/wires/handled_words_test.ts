import { isRefusal } from "../../src/core/failure/failure.ts";
import { success } from "../../src/core/failure/result.ts";
import { parseDocument } from "../../src/formats/document.ts";
import { wires } from "../../src/wires/registry.ts";
import type { Wire } from "../../src/wires/wire.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { providerOf, targetAt, valueOf, type Written } from "../support/translated.ts";

const USER = { role: "user", content: "Hi" };
const TOOL = { type: "function", function: { name: "look" } };
const PART = { type: "text", text: "See" };
const CALL = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };

/** A place of a request where a word can be a member or the name of a variant. */
interface Place {
  /** Returns the request with this word at the place. */
  body(word: string): Written;
  /** Path of the refusal of a word that the code does not know. */
  readonly param: string;
  /** Returns the beginning of the table's rows for a word that the code knows. */
  rows(word: string): readonly string[];
}

function assistant(fields: Written): Written {
  return { messages: [USER, { role: "assistant", content: "Yes", ...fields }, USER] };
}

const PLACES: Readonly<Record<string, Place>> = {
  "top-level field": {
    body: (word) => ({ messages: [USER], [word]: "x" }),
    param: "WORD",
    rows: (word) => [word],
  },
  "role": {
    body: (word) => ({ messages: [USER, { role: word, content: "x" }] }),
    param: "messages[1].role",
    rows: (word) => [`messages[${word}]`],
  },
  "member of a system message": {
    body: (word) => ({ messages: [{ role: "system", content: "x", [word]: "x" }, USER] }),
    param: "messages[0].WORD",
    rows: (word) => [`messages[system].${word}`, `messages[].${word}`],
  },
  "member of a user message": {
    body: (word) => ({ messages: [{ role: "user", content: "x", [word]: "x" }] }),
    param: "messages[0].WORD",
    rows: (word) => [`messages[user].${word}`, `messages[].${word}`],
  },
  "member of an assistant message": {
    body: (word) => assistant({ [word]: "x" }),
    param: "messages[1].WORD",
    rows: (word) => [`messages[assistant].${word}`, `messages[].${word}`],
  },
  "part of a user message": {
    body: (word) => ({ messages: [{ role: "user", content: [{ type: word, [word]: "x" }] }] }),
    param: "messages[0].content[0].type",
    rows: (word) => [`messages[user].content[${word}]`],
  },
  "part of an assistant message": {
    body: (word) => assistant({ content: [PART, { type: word, [word]: "x" }] }),
    param: "messages[1].content[1].type",
    rows: (word) => [`messages[assistant].content[${word}]`],
  },
  "member of a part": {
    body: (word) => ({ messages: [{ role: "user", content: [{ ...PART, [word]: "x" }] }] }),
    param: "messages[0].content[0].WORD",
    rows: (word) => [`messages[].content[text].${word}`],
  },
  "type of a tool call": {
    body: (word) => assistant({ tool_calls: [{ ...CALL, type: word, [word]: CALL.function }] }),
    param: "messages[1].tool_calls[0].type",
    rows: (word) => [`messages[assistant].tool_calls[${word}]`],
  },
  "member of a tool call": {
    body: (word) => assistant({ tool_calls: [{ ...CALL, [word]: "x" }] }),
    param: "messages[1].tool_calls[0].WORD",
    rows: (word) => [`messages[assistant].tool_calls[function].${word}`],
  },
  "type of a thinking block": {
    body: (word) => assistant({ thinking_blocks: [{ type: word }] }),
    param: "messages[1].thinking_blocks[0].type",
    rows: (word) => [`messages[assistant].thinking_blocks[${word}]`],
  },
  "type of a tool": {
    body: (word) => ({ messages: [USER], tools: [{ type: word, [word]: { name: "look" } }] }),
    param: "tools[0].type",
    rows: (word) => [`tools[${word}]`],
  },
  "member of a function": {
    body: (word) => ({
      messages: [USER],
      tools: [{ type: "function", function: { name: "look", [word]: "x" } }],
    }),
    param: "tools[0].function.WORD",
    rows: (word) => [`tools[function].function.${word}`],
  },
  "tool choice": {
    body: (word) => ({ messages: [USER], tools: [TOOL], tool_choice: word }),
    param: "tool_choice",
    rows: (word) => [`tool_choice=${word}`],
  },
  "type of a tool choice": {
    body: (word) => ({ messages: [USER], tools: [TOOL], tool_choice: { type: word } }),
    param: "tool_choice.type",
    rows: (word) => [`tool_choice[${word}]`],
  },
  "type of a response format": {
    body: (word) => ({ messages: [USER], response_format: { type: word } }),
    param: "response_format.type",
    rows: (word) => [`response_format[${word}]`],
  },
  "member of a JSON Schema format": {
    body: (word) => ({
      messages: [USER],
      response_format: { type: "json_schema", json_schema: { name: "n", schema: {}, [word]: "x" } },
    }),
    param: "response_format.json_schema.WORD",
    rows: (word) => [`response_format[json_schema].json_schema.${word}`],
  },
  "type of thinking": {
    body: (word) => ({ messages: [USER], thinking: { type: word } }),
    param: "thinking.type",
    rows: (word) => [`thinking[${word}]`],
  },
};

const SOURCES = new URL("../../src/wires/", import.meta.url);

/** Returns every word in the code of a folder, from comments too. */
function wordsIn(folder: string): readonly string[] {
  const url = new URL(`${folder}/`, SOURCES);
  const files = [...Deno.readDirSync(url)].filter(({ isFile }) => isFile);
  return files.flatMap(({ name }) =>
    Deno.readTextFileSync(new URL(name, url)).match(/\b[a-z][a-z0-9_]*\b/g) ?? []
  );
}

/** Kinds of the refusal of an unknown word; a wrong type is refused only of a known field. */
const UNKNOWN: readonly string[] = ["unsupported_feature", "invalid_value"];

function isKnown(wire: Wire, { body, param }: Place, word: string): boolean {
  const document = valueOf(parseDocument(JSON.stringify({ model: "p/m", ...body(word) })));
  const capabilities = { structured_outputs: true, adaptive_thinking: true };
  const provider = providerOf(wire, { capabilities });
  const encoded = wire.encode(
    { document, stream: false, includeUsage: false },
    targetAt(provider, wire),
  );
  const result = encoded.ok ? success(encoded.value.payload?.text()) : encoded;
  if (result.ok) return true;
  assert(isRefusal(result.failure));
  if (!UNKNOWN.includes(result.failure.kind)) return true;
  const expected = param.replace("WORD", word);
  const refused = result.failure.at;
  return refused === null || !(refused.startsWith(expected) || expected.startsWith(refused));
}

/** Returns whether the table accepts any word at a place. */
function acceptsAny({ fields }: Wire, place: Place): boolean {
  const [start = ""] = place.rows("");
  const before = start.replace(/\]$/, "");
  return Object.entries(fields.rows).some(([path, treatment]) =>
    path.startsWith(before) && treatment.kind !== "refused"
  );
}

for (const wire of [wires.responses, wires.messages, wires.local] as readonly Wire[]) {
  const words = [
    ...new Set(["../prompt", "../prompt/chat", "verified", wire.name].flatMap(wordsIn)),
  ];
  const rows = Object.keys(wire.fields.rows);
  for (const [name, place] of Object.entries(PLACES)) {
    Deno.test(`${wire.name}: every word that its code knows as a ${name} has a row in its table`, () => {
      assert(words.length > 300);
      const known = words.filter((word) => isKnown(wire, place, word));
      assertEquals(known.length > 0, acceptsAny(wire, place));
      const isNamed = (word: string) =>
        place.rows(word).some((start) =>
          rows.some((row) =>
            row === start || (row.startsWith(start) && !/\w/.test(row[start.length] ?? ""))
          )
        );
      assertEquals(known.filter((word) => !isNamed(word)), []);
    });
  }
}
