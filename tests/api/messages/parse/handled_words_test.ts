import { MESSAGES_FIELDS } from "../../../../src/api/messages/parse/fields.ts";
import { isRefusal } from "../../../../src/core/failure/failure.ts";
import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { ABLE, translateFields } from "../translated.ts";

const USER = { role: "user", content: "Hi" };
const TEXT = { type: "text", text: "x" };
const TOOL = { name: "look", input_schema: { type: "object" } };
const CALL = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
const RESULT = { type: "tool_result", tool_use_id: "toolu_1" };
const PNG = { type: "base64", media_type: "image/png", data: "iVBORw0K" };

/** A place of a request where a word can be a field or the name of a variant. */
interface Place {
  /** Returns the request with this word at the place. */
  body(word: string): JsonObject;
  /** Path of the refusal of a word that the code does not know. */
  readonly param: string;
  /** Returns the beginning of the table's rows for a word that the code knows. */
  row(word: string): string;
}

function spoken(block: JsonObject): JsonObject {
  return { messages: [USER, { role: "assistant", content: [block] }, USER] };
}

function asked(block: JsonObject): JsonObject {
  return { messages: [{ role: "user", content: [block] }] };
}

function answered(result: JsonObject): JsonObject {
  return {
    messages: [
      USER,
      { role: "assistant", content: [CALL] },
      { role: "user", content: [{ ...RESULT, ...result }] },
    ],
    tools: [TOOL],
  };
}

const PLACES: Readonly<Record<string, Place>> = {
  "top-level field": {
    // Every target needs a model name and a flag for the stream.
    body: (word) => ["model", "stream"].includes(word) ? {} : { [word]: [{ a: 1 }] },
    param: "WORD",
    row: (word) => word,
  },
  "role": {
    body: (word) => ({ messages: [USER, { role: word, content: "x" }] }),
    param: "messages.1.role",
    row: (word) => `messages[${word}]`,
  },
  "member of a user message": {
    body: (word) => ({ messages: [{ ...USER, [word]: 1 }] }),
    param: "messages.0.WORD",
    row: (word) => `messages[user].${word}`,
  },
  "member of an assistant message": {
    body: (word) => ({ messages: [USER, { role: "assistant", content: "x", [word]: 1 }, USER] }),
    param: "messages.1.WORD",
    row: (word) => `messages[assistant].${word}`,
  },
  "member of a system message": {
    body: (word) => ({ messages: [USER, { role: "system", content: "x", [word]: 1 }] }),
    param: "messages.1.WORD",
    row: (word) => `messages[system].${word}`,
  },
  "block of a user message": {
    body: (word) => asked({ type: word }),
    param: "messages.0.content.0",
    row: (word) => `messages[user].content[${word}]`,
  },
  "block of an assistant message": {
    body: (word) => spoken({ type: word }),
    param: "messages.1.content.0",
    row: (word) => `messages[assistant].content[${word}]`,
  },
  "block of a system message": {
    body: (word) => ({ messages: [USER, { role: "system", content: [{ type: word }] }] }),
    param: "messages.1.content.0",
    row: (word) => `messages[system].content[${word}]`,
  },
  "block of a tool result": {
    body: (word) => answered({ content: [{ type: word }] }),
    param: "messages.2.content.0.tool_result.content.0",
    row: (word) => `messages[user].content[tool_result].content[${word}]`,
  },
  "member of a text": {
    body: (word) => asked({ ...TEXT, [word]: 1 }),
    param: "messages.0.content.0.WORD",
    row: (word) => `messages[].content[text].${word}`,
  },
  "member of an image": {
    body: (word) => asked({ type: "image", source: PNG, [word]: 1 }),
    param: "messages.0.content.0.WORD",
    row: (word) => `messages[user].content[image].${word}`,
  },
  "source of an image": {
    body: (word) => asked({ type: "image", source: { type: word } }),
    param: "messages.0.content.0.source",
    row: (word) => `messages[user].content[image].source[${word}]`,
  },
  "source of a document": {
    body: (word) => asked({ type: "document", source: { type: word } }),
    param: "messages.0.content.0.source",
    row: (word) => `messages[user].content[document].source[${word}]`,
  },
  "member of a document": {
    body: (word) =>
      asked({
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "x" },
        [word]: 1,
      }),
    param: "messages.0.content.0.WORD",
    row: (word) => `messages[user].content[document].${word}`,
  },
  "member of a tool result": {
    body: (word) => answered({ [word]: 1 }),
    param: "messages.2.content.0.WORD",
    row: (word) => `messages[user].content[tool_result].${word}`,
  },
  "member of a call": {
    body: (word) => spoken({ ...CALL, [word]: 1 }),
    param: "messages.1.content.0.WORD",
    row: (word) => `messages[assistant].content[tool_use].${word}`,
  },
  "member of thinking in an assistant message": {
    body: (word) => spoken({ type: "thinking", thinking: "x", [word]: 1 }),
    param: "messages.1.content.0.WORD",
    row: (word) => `messages[assistant].content[thinking].${word}`,
  },
  "type of a tool": {
    body: (word) => ({ tools: [{ type: word }] }),
    param: "tools.0.type",
    row: (word) => `tools[${word}]`,
  },
  "member of a tool": {
    body: (word) => ({ tools: [{ ...TOOL, [word]: 1 }] }),
    param: "tools.0.custom.WORD",
    row: (word) => `tools[custom].${word}`,
  },
  "type of a tool choice": {
    body: (word) => ({ tools: [TOOL], tool_choice: { type: word } }),
    param: "tool_choice.type",
    row: (word) => `tool_choice[${word}]`,
  },
  "member of the choice of one tool": {
    body: (word) => ({ tools: [TOOL], tool_choice: { type: "tool", name: "look", [word]: 1 } }),
    param: "tool_choice.WORD",
    row: (word) => `tool_choice[tool].${word}`,
  },
  "type of thinking": {
    body: (word) => ({ thinking: { type: word } }),
    param: "thinking.type",
    row: (word) => `thinking[${word}]`,
  },
  "member of enabled thinking": {
    body: (word) => ({ thinking: { type: "enabled", budget_tokens: 2000, [word]: "x" } }),
    param: "thinking.enabled.WORD",
    row: (word) => `thinking[enabled].${word}`,
  },
  "member of output_config": {
    body: (word) => ({ output_config: { [word]: 1 } }),
    param: "output_config.WORD",
    row: (word) => `output_config.${word}`,
  },
  "type of a format": {
    body: (word) => ({ output_config: { format: { type: word } } }),
    param: "output_config.format.type",
    row: (word) => `output_config.format[${word}]`,
  },
  "member of metadata": {
    body: (word) => ({ metadata: { [word]: 1 } }),
    param: "metadata.WORD",
    row: (word) => `metadata.${word}`,
  },
};

const SOURCES = new URL("../../../../src/api/messages/parse/", import.meta.url);

const WORDS = new Set(
  [...Deno.readDirSync(SOURCES)].flatMap(({ name }) =>
    Deno.readTextFileSync(new URL(name, SOURCES)).match(/\b[a-z][a-z0-9_]*\b/g) ?? []
  ),
);

/** Kinds of the refusal of an unknown word; a wrong type is refused only of a known field. */
const UNKNOWN: readonly string[] = ["unsupported_feature", "invalid_value"];

/** The member that names the variant of an object has no row: the variants have. */
const TAGS: readonly string[] = ["type", "role"];

function isKnown({ body, param }: Place, word: string): boolean {
  const chat = translateFields(body(word), "compat", ABLE);
  if (chat.ok) return true;
  assert(isRefusal(chat.failure));
  if (!UNKNOWN.includes(chat.failure.kind)) return true;
  return chat.failure.at !== param.replace("WORD", word);
}

for (const [name, place] of Object.entries(PLACES)) {
  Deno.test(`Messages: every word that the translation knows as a ${name} has a row in its table`, () => {
    assert(WORDS.size > 300);
    const known = [...WORDS].filter((word) => isKnown(place, word) && !TAGS.includes(word));
    assert(known.length > 0);
    const rows = Object.keys(MESSAGES_FIELDS.rows);
    const isNamed = (word: string) =>
      [place.row(word), place.row(word).replace(/^messages\[\w+\]/, "messages[]")].some((start) =>
        rows.some((row) => row.startsWith(start) && !/\w/.test(row[start.length] ?? ""))
      );
    assertEquals(known.filter((word) => !isNamed(word)), []);
  });
}
