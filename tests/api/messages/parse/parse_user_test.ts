import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import {
  encodeFor,
  messagesOf,
  refusalOf,
  translate,
  TRANSLATED,
  translateMessages,
} from "../translated.ts";

function text(value: string): JsonObject {
  return { type: "text", text: value };
}

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

/** The content of the one Chat message of a user message with these blocks. */
function contentOf(...blocks: JsonObject[]) {
  return messagesOf([{ role: "user", content: blocks }])[0]?.content;
}

/** The refusal of a user message with this block behind a text. */
function refused(block: JsonObject, wire: "compat" | "local" | "responses" = "compat") {
  return refusalOf(translateMessages([{ role: "user", content: [text("a"), block] }], wire));
}

Deno.test("a user message with a string stays a string", () => {
  assertEquals(messagesOf([{ role: "user", content: "hi" }]), [{ role: "user", content: "hi" }]);
});

Deno.test("one text block is a string, several blocks are parts in their order", () => {
  assertEquals(contentOf(text("a")), "a");
  assertEquals(contentOf(text("a"), IMAGE, text("b")), [text("a"), IMAGE_PART, text("b")]);
});

Deno.test("empty texts next to other content are left out", () => {
  assertEquals(contentOf(text(""), text("a"), text("")), "a");
  assertEquals(contentOf(text(""), IMAGE), [IMAGE_PART]);
});

Deno.test("user messages that follow each other stay separate", () => {
  const messages = [{ role: "user", content: "a" }, { role: "user", content: "b" }];
  assertEquals(messagesOf(messages), messages);
});

Deno.test("a user message without any content is refused by its path", () => {
  for (const content of ["", [], [text("")]]) {
    const [kind, param, message] = refusalOf(translateMessages([{ role: "user", content }]));
    assertEquals([kind, param], ["invalid_value", "messages.0.content"]);
    assertEquals(message, "messages.0.content: user messages must have non-empty content");
  }
  assertEquals(
    refusalOf(translateMessages([{ role: "user" }]))[2],
    "messages.0.content: Field required",
  );
});

Deno.test("a request without messages, and an element that is no object, are refused", () => {
  assertEquals(refusalOf(translateMessages([]))[2], "messages: at least one message is required");
  assertEquals(
    refusalOf(translateMessages(["a"]))[2],
    "messages.0: Input should be a valid dictionary",
  );
  assertEquals(
    refusalOf(translateMessages([{ role: "user", content: [1] }]))[1],
    "messages.0.content.0",
  );
});

Deno.test("an image in base64 is a data URL, an image by URL keeps its URL", () => {
  const url = { type: "image", source: { type: "url", url: "https://a.test/b.png" } };
  assertEquals(contentOf(IMAGE), [IMAGE_PART]);
  assertEquals(contentOf(url), [{ type: "image_url", image_url: { url: "https://a.test/b.png" } }]);
});

Deno.test("an image by URL is refused by a local target, which takes no URL", () => {
  const url = { type: "image", source: { type: "url", url: "https://a.test/b.png" } };
  assertEquals(refused(url, "local"), [
    "unsupported_feature",
    "messages.0.content.1.image",
    "messages.0.content.1.image: This model does not support images by URL.",
  ]);
  assertEquals(messagesOf([{ role: "user", content: [IMAGE] }], "local").length, 1);
});

Deno.test("an image with another media type is refused by the path of its source", () => {
  const image = { type: "image", source: { ...IMAGE.source, media_type: "image/tiff" } };
  assertEquals(refused(image), [
    "invalid_value",
    "messages.0.content.1.source.media_type",
    "messages.0.content.1.source.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
  ]);
});

Deno.test("image data that is no base64 is refused by a local target with the path of the data", () => {
  const image = { type: "image", source: { ...IMAGE.source, data: "?" } };
  const messages = [{ role: "user", content: [text("a"), image] }];
  assertEquals(refusalOf(encodeFor({ messages }, "local"))[1], "messages.0.content.1.source.data");
});

Deno.test("an image from a file, and transformations, are refused", () => {
  assertEquals(
    refused({ type: "image", source: { type: "file", file_id: "f" } })[1],
    "messages.0.content.1.source",
  );
  assertEquals(
    refused({ ...IMAGE, transformations: [] })[2],
    "messages.0.content.1.transformations: Extra inputs are not permitted",
  );
  assertEquals(contentOf({ ...IMAGE, transformations: null }), [IMAGE_PART]);
});

Deno.test("a PDF is a file, named by its title", () => {
  assertEquals(contentOf(PDF), [PDF_PART]);
  assertEquals(contentOf({ ...PDF, title: "a.pdf" }), [{
    type: "file",
    file: { ...PDF_PART.file, filename: "a.pdf" },
  }]);
  assertEquals(messagesOf([{ role: "user", content: [PDF] }], "responses")[0]?.content, [PDF_PART]);
});

Deno.test("the context of a PDF is a text before it, and is named", () => {
  const made = translateMessages([{ role: "user", content: [{ ...PDF, context: "C" }] }]);
  const { chat, lossy } = valueOf(made);
  assertEquals(chat.document.value.messages, [{ role: "user", content: [text("C"), PDF_PART] }]);
  assertEquals(lossy, ["messages.0.content.0.context"]);
});

Deno.test("a PDF is refused by a local target in the words that clients repair by", () => {
  assertEquals(refused(PDF, "local"), [
    "unsupported_feature",
    "messages.0.content.1.document",
    "messages.0.content.1.document: This model does not support PDF input.",
  ]);
});

Deno.test("a document of text is its text under title and context, and is named", () => {
  const plain = { type: "document", source: { type: "text", media_type: "text/plain", data: "D" } };
  const content = {
    type: "document",
    source: { type: "content", content: [text("D"), text("E")] },
  };
  assertEquals(contentOf(plain), "D");
  assertEquals(contentOf({ ...plain, title: "T", context: "C" }), "T\nC\nD");
  assertEquals(contentOf({ ...content, title: "T" }), [text("T\nD"), text("E")]);
  assertEquals(contentOf({ type: "document", source: { type: "content", content: "D" } }), "D");
  assertEquals(valueOf(translateMessages([{ role: "user", content: [plain] }], "local")).lossy, [
    "messages.0.content.0",
  ]);
});

Deno.test("documents by URL or file, with citations, or with another content are refused", () => {
  const at = "messages.0.content.1";
  assertEquals(refused({ type: "document", source: { type: "url", url: "a" } })[1], `${at}.source`);
  assertEquals(
    refused({ type: "document", source: { type: "file", file_id: "a" } })[1],
    `${at}.source`,
  );
  assertEquals(
    refused({ ...PDF, citations: { enabled: true } })[2],
    `${at}.citations.enabled: Extra inputs are not permitted`,
  );
  assertEquals(contentOf({ ...PDF, citations: { enabled: false } }), [PDF_PART]);
  const inner = { type: "document", source: { type: "content", content: [IMAGE] } };
  assertEquals(refused(inner)[1], `${at}.source.content.0`);
  assertEquals(
    refused({ ...PDF, source: { ...PDF.source, media_type: "a/b" } })[1],
    `${at}.source.media_type`,
  );
});

Deno.test("blocks of other types are refused by their tag", () => {
  for (
    const type of [
      ...["search_result", "server_tool_use", "web_search_tool_result", "container_upload"],
      ...[
        "mcp_tool_use",
        "compaction",
        "fallback",
        "thinking",
        "tool_use",
        "tool_reference",
        "new",
      ],
    ]
  ) {
    assertEquals(refused({ type }), [
      "unsupported_feature",
      "messages.0.content.1",
      `messages.0.content.1: Input tag '${type}' found using 'type' does not match any of the ` +
      "expected tags: 'text', 'image', 'document', 'tool_result'",
    ]);
  }
  assertEquals(refused({})[2], "messages.0.content.1.type: Field required");
});

Deno.test("citations of a text are dropped and named; the text stays", () => {
  const cited = { ...text("a"), citations: [{ type: "char_location" }] };
  for (const wire of TRANSLATED) {
    const { chat, lossy } = valueOf(translateMessages([{ role: "user", content: [cited] }], wire));
    assertEquals(chat.document.value.messages, [{ role: "user", content: "a" }]);
    assertEquals(lossy, ["messages.0.content.0.citations"]);
  }
  assertEquals(
    valueOf(translateMessages([{ role: "user", content: [{ ...text("a"), citations: null }] }]))
      .lossy,
    [],
  );
});

Deno.test("an unknown member of a message or a block is refused, unless it is null", () => {
  assertEquals(
    refusalOf(
      translateMessages([{ role: "user", content: "a", output_config: { effort: "low" } }]),
    )[2],
    "messages.0.output_config: Extra inputs are not permitted",
  );
  assertEquals(refused({ ...text("b"), tone: "warm" })[1], "messages.0.content.1.tone");
  assertEquals(contentOf({ ...text("b"), tone: null }), "b");
});

Deno.test("a body with numbers, escapes and blanks keeps the texts as the client means them", () => {
  const { chat } = valueOf(translate(
    '{"max_tokens": 9, "messages" : [ {"role":"user","content":"\\u00e9\\n\\ud83d\\ude00"} ]}',
  ));
  assertEquals(chat.document.value.messages, [{ role: "user", content: "é\n😀" }]);
});
