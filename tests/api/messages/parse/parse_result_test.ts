import type { JsonObject, JsonValue } from "../../../../src/core/json/json.ts";
import type { WireName } from "../../../../src/wires/wire.ts";
import { assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import { encodeFor, refusalOf, TRANSLATED, translateMessages } from "../translated.ts";

const USER = { role: "user", content: "hi" };
const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const IMAGE_PART = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const PDF = {
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: "JVBE" },
};
const PDF_PART = {
  type: "file",
  file: { file_data: "data:application/pdf;base64,JVBE", filename: "document.pdf" },
};

function text(value: string): JsonObject {
  return { type: "text", text: value };
}

function use(id: string): JsonObject {
  return { type: "tool_use", id, name: "f", input: {} };
}

function result(id: string, content: JsonValue, more: JsonObject = {}): JsonObject {
  return { type: "tool_result", tool_use_id: id, content, ...more };
}

/** The dialogue of calls with these ids and a user message of these blocks. */
function answered(ids: readonly string[], ...blocks: JsonObject[]): JsonValue[] {
  return [USER, { role: "assistant", content: ids.map(use) }, { role: "user", content: blocks }];
}

/** The Chat messages behind the calls, and what is named. */
function behind(messages: JsonValue[], wire: WireName = "compat", more: JsonObject = {}) {
  const { chat, lossy } = valueOf(translateMessages(messages, wire, more));
  const made = chat.document.value.messages;
  return [Array.isArray(made) ? made.slice(2) : [], lossy] as const;
}

/** The content of the tool message of one result with this content. */
function contentOf(content: JsonValue, more: JsonObject = {}, wire: WireName = "compat") {
  const [[first]] = behind(answered(["t"], result("t", content, more)), wire);
  return typeof first === "object" && first !== null && "content" in first ? first.content : null;
}

Deno.test("a result is a tool message with the id of its call", () => {
  const [made, lossy] = behind(answered(["t"], result("t", "R")));
  assertEquals(made, [{ role: "tool", tool_call_id: "t", content: "R" }]);
  assertEquals(lossy, []);
});

Deno.test("a result without content is an empty text", () => {
  for (const content of [null, [], "", [text("")]]) assertEquals(contentOf(content), "");
});

Deno.test("one text of a result is a string, several are parts, without glue at a local runtime", () => {
  assertEquals(contentOf([text("a")]), "a");
  assertEquals(contentOf([text("a"), text(""), text("b")]), [text("a"), text("b")]);
  const messages = answered(["t"], result("t", [text("a"), text("b")]));
  const sent = JSON.parse(valueOf(encodeFor({ messages }, "local")).text);
  assertEquals(sent.messages[2].content, "ab");
});

Deno.test("is_error false asks for nothing", () => {
  assertEquals(behind(answered(["t"], result("t", "R", { is_error: false })))[1], []);
  assertEquals(contentOf("R", { is_error: null }), "R");
});

Deno.test("a failed call has [tool error] as the first line of its text, and is named", () => {
  for (const wire of TRANSLATED) {
    assertEquals(contentOf("R", { is_error: true }, wire), "[tool error]\nR");
    assertEquals(contentOf([text("a"), text("b")], { is_error: true }, wire), [
      text("[tool error]\na"),
      text("b"),
    ]);
    assertEquals(contentOf(null, { is_error: true }, wire), "[tool error]");
    assertEquals(behind(answered(["t"], result("t", "R", { is_error: true })), wire)[1], [
      "messages.2.content.0.is_error",
    ]);
  }
  assertEquals(contentOf([IMAGE], { is_error: true }, "local"), [text("[tool error]"), IMAGE_PART]);
});

Deno.test("results keep their order and come before the other blocks, which are one user message", () => {
  const [made] = behind(
    answered(["t", "u"], text("a"), result("u", "2"), IMAGE, result("t", "1"), text("b")),
  );
  assertEquals(made, [
    { role: "tool", tool_call_id: "u", content: "2" },
    { role: "tool", tool_call_id: "t", content: "1" },
    { role: "user", content: [text("a"), IMAGE_PART, text("b")] },
  ]);
});

Deno.test("images of results move to a user message behind all results, with their order and owner", () => {
  const blocks = [
    result("t", [text("see"), IMAGE, IMAGE]),
    text("and now?"),
    result("u", [IMAGE]),
  ];
  const [made, lossy] = behind(answered(["t", "u"], ...blocks));
  assertEquals(made, [
    {
      role: "tool",
      tool_call_id: "t",
      content: [
        text("see"),
        text("[image 1: see the next message]"),
        text("[image 2: see the next message]"),
      ],
    },
    { role: "tool", tool_call_id: "u", content: "[image 1: see the next message]" },
    {
      role: "user",
      content: [
        ...[text("Image 1 of the result of t:"), IMAGE_PART],
        ...[text("Image 2 of the result of t:"), IMAGE_PART],
        ...[text("Image 1 of the result of u:"), IMAGE_PART],
      ],
    },
    { role: "user", content: "and now?" },
  ]);
  assertEquals(lossy, [
    "messages.2.content.0.content.1",
    "messages.2.content.0.content.2",
    "messages.2.content.2.content.0",
  ]);
});

Deno.test("images of results stay in the tool message where the protocol takes them", () => {
  for (const wire of ["local", "responses"] as const) {
    const [made, lossy] = behind(answered(["t"], result("t", [text("see"), IMAGE])), wire);
    assertEquals(made, [{ role: "tool", tool_call_id: "t", content: [text("see"), IMAGE_PART] }]);
    assertEquals(lossy, []);
  }
});

Deno.test("a PDF of a result moves as images do, and stays where the protocol takes files", () => {
  const messages = answered(["t"], result("t", [text("PDF"), PDF]));
  const [made, lossy] = behind(messages);
  assertEquals(made, [
    {
      role: "tool",
      tool_call_id: "t",
      content: [text("PDF"), text("[document 1: see the next message]")],
    },
    { role: "user", content: [text("Document 1 of the result of t:"), PDF_PART] },
  ]);
  assertEquals(lossy, ["messages.2.content.0.content.1"]);
  assertEquals(behind(messages, "responses")[0], [{
    role: "tool",
    tool_call_id: "t",
    content: [text("PDF"), PDF_PART],
  }]);
});

Deno.test("a document of text in a result is text of the tool message", () => {
  const plain = { type: "document", title: "T", source: { type: "text", data: "D" } };
  for (const wire of TRANSLATED) assertEquals(contentOf([plain], {}, wire), "T\nD");
});

Deno.test("a PDF in a result is refused by a local target with the path by which clients take it out", () => {
  assertEquals(
    refusalOf(translateMessages(answered(["t"], result("t", [text("a"), PDF])), "local")),
    [
      "unsupported_feature",
      "messages.2.content.0.tool_result.content.1.document",
      "messages.2.content.0.tool_result.content.1.document: This model does not support PDF input.",
    ],
  );
  const url = { type: "image", source: { type: "url", url: "https://a.test" } };
  assertEquals(
    refusalOf(translateMessages(answered(["t"], result("t", [url])), "local"))[1],
    "messages.2.content.0.tool_result.content.0.image",
  );
});

const TOOLS = ["Fetch", "Search"].map((name) => ({ name, input_schema: {}, defer_loading: true }));

function reference(tool_name: string): JsonObject {
  return { type: "tool_reference", tool_name };
}

Deno.test("a tool_reference is a line of text", () => {
  const [made, lossy] = behind(answered(["t"], result("t", [reference("Fetch")])), "compat", {
    tools: TOOLS,
  });
  assertEquals(made, [{ role: "tool", tool_call_id: "t", content: "Loaded tool: Fetch" }]);
  assertEquals(lossy, []);
});

Deno.test("several tool_reference blocks of one result are lines of one text", () => {
  const content = [text("Found:"), reference("Search"), reference("Fetch"), text("Done")];
  const [made] = behind(answered(["t"], result("t", content)), "compat", { tools: TOOLS });
  assertEquals(made, [{
    role: "tool",
    tool_call_id: "t",
    content: [text("Found:"), text("Loaded tool: Search\nLoaded tool: Fetch"), text("Done")],
  }]);
});

Deno.test("a tool_reference to a tool that is not declared is refused by its name", () => {
  const [kind, param, message] = refusalOf(
    translateMessages(answered(["t"], result("t", [reference("Other")])), "compat", {
      tools: TOOLS,
    }),
  );
  const at = "messages.2.content.0.tool_result.content.0";
  assertEquals([kind, param], ["invalid_value", at]);
  assertEquals(message, `${at}: Tool reference 'Other' not found in available tools`);
});

Deno.test("search_result, browser_state and unknown blocks of a result are refused by their tag", () => {
  for (const type of ["search_result", "browser_state", "new"]) {
    const [kind, param, message] = refusalOf(
      translateMessages(answered(["t"], result("t", [{ type }]))),
    );
    const at = "messages.2.content.0.tool_result.content.0";
    assertEquals([kind, param], ["unsupported_feature", at]);
    assertEquals(message.startsWith(`${at}: Input tag '${type}' found using 'type'`), true);
  }
});

Deno.test("members of a result with another type are refused by their path", () => {
  const at = (block: JsonObject) => refusalOf(translateMessages(answered(["t"], block)))[1];
  assertEquals(at(result("t", 1)), "messages.2.content.0.content");
  assertEquals(at(result("t", "R", { is_error: "yes" })), "messages.2.content.0.is_error");
  assertEquals(at(result("t", "R", { toolset_name: "b" })), "messages.2.content.0.toolset_name");
  assertEquals(at({ type: "tool_result", content: "R" }), "messages.2.content.0.tool_use_id");
});

Deno.test("calls that the next user message does not answer are refused by their ids", () => {
  const rest =
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
  const turn = { role: "assistant", content: "A" };
  const dialogues: JsonValue[][] = [
    answered(["t", "u", "v"], result("u", "R")),
    [USER, { role: "assistant", content: ["t", "v"].map(use) }, turn, USER],
    [USER, { role: "assistant", content: ["t", "v"].map(use) }],
    [USER, { role: "assistant", content: ["t", "v"].map(use) }, { role: "system", content: "S" }],
  ];
  for (const messages of dialogues) {
    assertEquals(refusalOf(translateMessages(messages)), [
      "invalid_value",
      "messages.1",
      `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: t, v. ${rest}`,
    ]);
  }
});

Deno.test("a result without its call in the message before is refused by its id", () => {
  const rest =
    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.";
  const sentence = (at: string, id: string) =>
    `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ${rest}`;
  assertEquals(refusalOf(translateMessages([{ role: "user", content: [result("x", "R")] }])), [
    "invalid_value",
    "messages.0.content.0",
    sentence("messages.0.content.0", "x"),
  ]);
  const twice = answered(["t"], result("t", "1"), result("t", "2"));
  assertEquals(refusalOf(translateMessages(twice))[2], sentence("messages.2.content.1", "t"));
  const late = [...answered(["t"], result("t", "1")), { role: "assistant", content: "A" }, {
    role: "user",
    content: [result("t", "2")],
  }];
  assertEquals(refusalOf(translateMessages(late))[1], "messages.4.content.0");
});

Deno.test("a refusal names at most ten unanswered calls, and cuts long ids", () => {
  const ids = Array.from({ length: 1_000 }, (_, at) => `${at}`.padEnd(500, "x"));
  const message = refusalOf(translateMessages(answered(ids, text("stop"))))[2];
  assertEquals(message.length < 2_000, true);
});
