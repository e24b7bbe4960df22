import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { messagesOf, refusalOf, translate } from "../translated.ts";

const PNG = "data:image/png;base64,iVBORw0K";
const PDF = "data:application/pdf;base64,JVBERi0x";
const USER = { role: "user", content: "Look." };
const IMAGE = { type: "input_image", image_url: PNG };
const FILE = { type: "input_file", file_data: PDF, filename: "a.pdf" };
const TEXT = { type: "input_text", text: "seen" };

function call(id: string): JsonObject {
  return { type: "function_call", call_id: id, name: "look", arguments: "{}" };
}

function result(id: string, output: JsonObject[]): JsonObject {
  return { type: "function_call_output", call_id: id, output };
}

function lossyOf(input: JsonObject[], wire: "compat" | "messages" | "local") {
  const chat = translate({ input }, wire);
  assert(chat.ok, JSON.stringify(chat));
  return chat.value.lossy;
}

const CALLED = [USER, call("c1"), result("c1", [TEXT, IMAGE])];

Deno.test("an image or a file in a tool result is a part of the result over messages, and nothing is lost", () => {
  const input = [...CALLED, call("c2"), result("c2", [FILE])];
  assertEquals<unknown>(messagesOf(input, "messages").filter(({ role }) => role === "tool"), [
    {
      role: "tool",
      tool_call_id: "c1",
      content: [{ type: "text", text: "seen" }, { type: "image_url", image_url: { url: PNG } }],
    },
    {
      role: "tool",
      tool_call_id: "c2",
      content: [{ type: "file", file: { filename: "a.pdf", file_data: PDF } }],
    },
  ]);
  assertEquals(lossyOf(input, "messages"), []);
});

Deno.test("over compat and local an image in a tool result is sent in a user message after all results, and is lossy", () => {
  const input = [USER, call("c1"), call("c2"), result("c1", [TEXT, IMAGE]), result("c2", [IMAGE])];
  for (const wire of ["compat", "local"] as const) {
    assertEquals<unknown>(messagesOf([...input, USER], wire).slice(2), [
      {
        role: "tool",
        tool_call_id: "c1",
        content: [{ type: "text", text: "seen" }, {
          type: "text",
          text: "[image 1: see the next message]",
        }],
      },
      { role: "tool", tool_call_id: "c2", content: "[image 1: see the next message]" },
      {
        role: "user",
        content: [
          { type: "text", text: "Image 1 of the result of c1:" },
          { type: "image_url", image_url: { url: PNG } },
          { type: "text", text: "Image 1 of the result of c2:" },
          { type: "image_url", image_url: { url: PNG } },
        ],
      },
      USER,
    ]);
    assertEquals(lossyOf(input, wire), ["input[3].output[1]", "input[4].output[0]"]);
  }
});

Deno.test("images and files of one result are numbered by kind", () => {
  const input = [USER, call("c1"), result("c1", [IMAGE, FILE, IMAGE])];
  const [moved] = messagesOf(input).slice(3);
  assert(moved !== undefined && Array.isArray(moved.content));
  const texts = moved.content.map((part) => JSON.parse(JSON.stringify(part)).text);
  assertEquals(texts.filter((text) => text !== undefined), [
    "Image 1 of the result of c1:",
    "Document 1 of the result of c1:",
    "Image 2 of the result of c1:",
  ]);
});

Deno.test("a file, and an image by address, in a tool result are refused over local by their own path", () => {
  for (
    const [part, path] of [
      [FILE, "input[2].output[1].type"],
      [{ ...IMAGE, image_url: "https://a.example/a.png" }, "input[2].output[1].image_url"],
    ] as const
  ) {
    const translated = translate(
      { input: [USER, call("c1"), result("c1", [TEXT, part])] },
      "local",
    );
    assertEquals(refusalOf(translated.ok ? translated.value.encode() : translated)[1], path);
  }
});

Deno.test("each of many images has the beginning of a long ID of its call alone", () => {
  const id = "i".repeat(100_000);
  const input = [USER, call(id), result(id, Array.from({ length: 100 }, () => IMAGE))];
  const moved = JSON.stringify(messagesOf(input, "compat").at(-1));
  assert(moved.includes(`Image 100 of the result of ${"i".repeat(256)}:`));
  assert(moved.length < id.length, `${moved.length} characters`);
});
