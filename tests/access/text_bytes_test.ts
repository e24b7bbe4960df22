import fc from "fast-check";
import { countedBytes } from "../../src/access/text_bytes.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";

const MEDIUM = "Ab9+/-_".repeat(20_000);

/** Bytes that an image or audio counts. */
const MEDIUM_BYTES = 4_800;

/** Words that have no character outside of base64. */
const WORDS = "some_words/".repeat(10_000);

const IMAGE = `data:image/png;base64,${MEDIUM}`;
const PDF = `data:application/pdf;base64,${MEDIUM}`;
const TEXT = `data:text/plain;charset=utf-8;base64,${MEDIUM}`;

const byteLength = (text: string) => new TextEncoder().encode(text).length;
const user = (...content: JsonObject[]) => ({ messages: [{ role: "user", content }] });
const base64 = (mediaType: string, data: string) => (
  { type: "base64", media_type: mediaType, data }
);

/** Asserts the bytes of media that count, with all other bytes of a request or an answer. */
function assertCounted(
  media: readonly (readonly [text: string, bytes: number])[],
  value: JsonValue,
) {
  for (const indent of [0, 1]) {
    const text = JSON.stringify(value, null, indent);
    const left = media.reduce((sum, [{ length }, bytes]) => sum + length - bytes, 0);
    assertEquals(countedBytes(text), byteLength(text) - left, text.slice(0, 200));
  }
}

const assertAllCounted = (value: JsonValue) => assertCounted([], value);

Deno.test("an image or audio counts as 1,200 tokens in the format of each protocol, and the text around it with all bytes", () => {
  const image = { type: "image_url", image_url: { url: IMAGE } };
  const audio = { type: "input_audio", input_audio: { data: MEDIUM, format: "wav" } };
  const block = { type: "image", source: base64("image/png", MEDIUM) };
  const made = { type: "image_generation_call", id: "ig_1", result: MEDIUM };
  const requests: readonly (readonly [media: readonly string[], value: JsonObject])[] = [
    [[IMAGE], user(image, { type: "text", text: "déjà" })],
    [[MEDIUM], user(audio)],
    [[MEDIUM], user({ type: "input_audio", input_audio: MEDIUM })],
    [[IMAGE, IMAGE], user({ type: "video", video: [IMAGE, "https://a/b", IMAGE] })],
    [[MEDIUM], user(block)],
    [[MEDIUM], user({ type: "image", source: { type: "base64", data: MEDIUM } })],
    [[MEDIUM], user({ type: "tool_result", tool_use_id: "a", content: [block] })],
    [[IMAGE], { input: [{ content: [{ type: "input_image", image_url: IMAGE }] }] }],
    [[IMAGE], {
      input: [{
        type: "function_call_output",
        output: [{ type: "input_image", image_url: IMAGE }],
      }],
    }],
    [[MEDIUM], { input: [made] }],
    [[MEDIUM, MEDIUM], { messages: [{ content: "a", images: [MEDIUM, "aGk=", MEDIUM] }] }],
    [[IMAGE], { prompt: "A cat", images: [{ image_url: IMAGE }] }],
    [[MEDIUM], {
      contents: [{ parts: [{ inlineData: { data: MEDIUM, mimeType: "image/png" } }] }],
    }],
    [[IMAGE], { choices: [{ delta: { images: [image] } }] }],
    [[MEDIUM], { choices: [{ message: { audio: { id: "a", data: MEDIUM } } }] }],
    [[MEDIUM], { output: [made] }],
    [[MEDIUM], { type: "response.output_item.done", item: made }],
    [[MEDIUM], { type: "response.completed", response: { output: [made] } }],
    [[MEDIUM], { data: [{ b64_json: MEDIUM }] }],
    [[MEDIUM], { type: "image_generation.completed", b64_json: MEDIUM }],
    [[MEDIUM], { partial_image_index: 0, partial_image_b64: MEDIUM }],
  ];
  for (const [media, value] of requests) {
    assertCounted(media.map((text) => [text, MEDIUM_BYTES]), value);
  }
});

Deno.test("a PDF or a video counts a tenth, but not less than an image", () => {
  const pdf = { type: "document", source: base64("application/pdf", MEDIUM) };
  const video = `data:video/mp4;base64,${MEDIUM}`;
  const requests: readonly (readonly [medium: string, value: JsonObject])[] = [
    [PDF, user({ type: "file", file: { filename: "a.pdf", file_data: PDF } })],
    [MEDIUM, user({ type: "file", file: { filename: "a.pdf", file_data: MEDIUM } })],
    [MEDIUM, user(pdf)],
    [PDF, { input: [{ content: [{ type: "input_file", file_data: PDF }] }] }],
    [PDF, { input: [{ content: [{ type: "input_file", file_url: PDF }] }] }],
    [video, user({ type: "video_url", video_url: { url: video } })],
    [PDF, user({ type: "document_url", document_url: PDF })],
    [PDF, user({ type: "document_url", document_url: { url: PDF } })],
  ];
  for (const [medium, value] of requests) {
    assertCounted([[medium, Math.ceil(medium.length / 10)]], value);
  }
  const small = PDF.slice(0, 10_000);
  assertCounted([[small, MEDIUM_BYTES]], user({ type: "file", file: { file_data: small } }));
});

Deno.test("a medium whose URL has no media type is one of its place", () => {
  const url = `data:;base64,${MEDIUM}`;
  const media: readonly (readonly [bytes: number, message: JsonObject])[] = [
    [MEDIUM_BYTES, { image_url: { url } }],
    [MEDIUM_BYTES, { audio_url: { url } }],
    [MEDIUM_BYTES, { input_audio: { data: url } }],
    [Math.ceil(url.length / 10), { video_url: { url } }],
    [Math.ceil(url.length / 10), { document_url: { url } }],
    [Math.ceil(url.length * 3 / 4), { file_data: url }],
  ];
  for (const [bytes, message] of media) assertCounted([[url, bytes]], user(message));
});

Deno.test("another file in base64 counts as the text that it holds", () => {
  const requests: readonly (readonly [medium: string, value: JsonObject])[] = [
    [TEXT, user({ type: "file", file: { filename: "a.txt", file_data: TEXT } })],
    [TEXT, { input: [{ content: [{ type: "input_file", file_data: TEXT }] }] }],
    [TEXT, user({ type: "image_url", image_url: { url: TEXT } })],
    [MEDIUM, user({ type: "document", source: base64("text/plain", MEDIUM) })],
    [MEDIUM, user({ type: "document", source: base64("x".repeat(5_000), MEDIUM) })],
    [MEDIUM, { contents: [{ inline_data: { mime_type: "application/json", data: MEDIUM } }] }],
  ];
  for (const [medium, value] of requests) {
    assertCounted([[medium, Math.ceil(medium.length * 3 / 4)]], value);
  }
});

Deno.test("the members that say what data are may stand behind them, and the last ones count", () => {
  const source = (members: string) => `{"messages":[{"content":[{"source":{${members}}}]}]}`;
  const data = `"data":"${MEDIUM}"`;
  const other = MEDIUM.length * 3 / 4;
  const counts: readonly (readonly [members: string, bytes: number])[] = [
    [`${data},"type":"base64"`, MEDIUM_BYTES],
    [`${data},"type":"text"`, MEDIUM.length],
    [`${data},"a":{"type":"base64"}`, MEDIUM.length],
    [`"type":"text",${data},"type":"base64"`, MEDIUM_BYTES],
    [`"type":"base64",${data},"type":"text"`, MEDIUM.length],
    [`"type":"base64",${data},"type":null`, MEDIUM.length],
    [`"type":"base64",${data},"t\\u0079pe":"text"`, MEDIUM.length],
    [`"type":"base64",${data},"media_type":"application\\/pdf"`, MEDIUM.length / 10],
    [`"type":"base64","media_type":"image/png",${data},"media_type":"text/plain"`, other],
    [`"type":"base64","media_type":"image/png",${data},"media_type":{}`, other],
  ];
  for (const [members, bytes] of counts) {
    const text = source(members);
    assertEquals(countedBytes(text), text.length - MEDIUM.length + bytes, members.slice(0, 40));
  }
});

Deno.test("characters of a medium may be escaped, and it may have lines", () => {
  const around = (value: string) => `{"messages":[{"image_url":{"url":"${value}"}}]}`;
  const lines = IMAGE.replaceAll(/.{76}/g, "$&\\r\\n");
  const escaped = MEDIUM.replaceAll("+", "\\u002B").replaceAll("/", "\\u002f") + "\\u003D";
  for (const url of [IMAGE.replaceAll("/", "\\/"), lines, `data:image/png;base64,${escaped}`]) {
    assertEquals(countedBytes(around(url)), around("").length + MEDIUM_BYTES);
  }
});

Deno.test("words count with all bytes in a member with the name of a medium that holds data of any form", () => {
  const data = { data: WORDS, file_data: WORDS, result: WORDS, source: base64("image/png", WORDS) };
  const chat = { messages: [{ role: "user", content: "Hi" }] };
  const call = { type: "tool_use", id: "a", name: "b", input: data };
  const requests: readonly JsonObject[] = [
    { ...chat, tools: [{ type: "function", function: { parameters: { examples: [data] } } }] },
    { ...chat, tools: [{ name: "a", input_schema: { examples: data } }] },
    { ...chat, response_format: { json_schema: { schema: { examples: data } } } },
    { ...chat, metadata: data },
    { ...chat, chat_template_kwargs: data },
    { ...chat, documents: [data] },
    { ...chat, unknown: data },
    { ...chat, file_data: WORDS },
    user(call),
    user({ ...call, input: [data] }),
    user({ ...call, input: { images: [WORDS] } }),
    { messages: [{ tool_calls: [{ function: { name: "a", arguments: data } }] }] },
    { input: [{ type: "mcp_list_tools", tools: [{ annotations: data }] }] },
    { input: [{ type: "local_shell_call", action: { env: data } }] },
    { input: data },
    { prompt: { id: "a", variables: { a: data } } },
    { prompt: data },
    { response: { prompt: { variables: { a: { type: "input_file", file_data: WORDS } } } } },
    [data] as unknown as JsonObject,
  ];
  for (const request of requests) assertAllCounted(request);
  const names = "arguments args parameters input_schema schema variables action tools metadata " +
    "attributes functionResponse function_response";
  for (const name of names.split(" ")) {
    assertAllCounted({ messages: [{ [name]: data }], contents: [{ [name]: [[data]] }] });
  }
  const hidden = JSON.stringify({ messages: [{ arguments: data }] });
  const escaped = hidden.replace("arguments", "ar\\u0067uments");
  assertEquals(countedBytes(escaped), escaped.length);
});

Deno.test("a document that is a text counts with all bytes, whatever separates its words", () => {
  for (const separator of ["\n", "_", "/"]) {
    const data = `some${separator}words${separator}`.repeat(10_000);
    const source = { type: "text", media_type: "text/plain", data };
    assertAllCounted(user({ type: "document", source }));
    const { type, ...rest } = source;
    assertAllCounted(user({ type: "document", source: { ...rest, type } }));
  }
});

Deno.test("a text that looks like a medium counts with all bytes", () => {
  const messages: readonly JsonObject[] = [
    { content: MEDIUM },
    { content: `{"messages":[{"images":["${MEDIUM}"]}]}` },
    { url: IMAGE },
    { images: MEDIUM },
    { video: [MEDIUM] },
    { video: MEDIUM },
    { document_url: MEDIUM },
    { result: MEDIUM },
    { type: "function_call_output", result: MEDIUM },
    { image_url: [IMAGE] },
    { data: MEDIUM },
    { image_url: { url: MEDIUM } },
    { image_url: MEDIUM },
    { image_url: { url: `https://a/${MEDIUM}` } },
    { image_url: { url: `data:image/png,${MEDIUM}` } },
    { file_data: `data:${"a".repeat(300)};base64,${MEDIUM}` },
    { source: base64("image/png", IMAGE) },
    ...[`${MEDIUM} `, `${MEDIUM}é`, `${MEDIUM}"`, `${MEDIUM}\t`, "a".repeat(MEDIUM_BYTES)].map((
      data,
    ) => ({ input_audio: { data } })),
  ];
  for (const message of messages) assertAllCounted({ messages: [message] });
});

Deno.test("what is not closed counts with all bytes, and so does what is no JSON", () => {
  const image = JSON.stringify(user({ type: "image_url", image_url: { url: IMAGE } }));
  const source = `{"messages":[{"source":{"type":"base64","data":"${MEDIUM}"`;
  const list = `{"messages":[{"images":["${MEDIUM}"`;
  for (
    const text of [
      image.slice(0, -20),
      image.slice(image.indexOf("{", 1)),
      source,
      `${source},`,
      list,
      `${list}]]`,
      `${list}]}]} x`,
      `${list}]}]}}`,
      `x ${list}]}]}`,
      `"messages":["images","${MEDIUM}"]`,
      MEDIUM,
    ]
  ) assertEquals(countedBytes(text), text.length, text.slice(0, 60));
  assertEquals(countedBytes(`${list},`), list.length + 1 - MEDIUM.length + MEDIUM_BYTES);
  assertEquals(countedBytes(`${list}]}]} \n`), list.length + 6 - MEDIUM.length + MEDIUM_BYTES);
  for (let end = 0; end < source.length; end += 997) {
    assertEquals(countedBytes(source.slice(0, end)), end);
  }
});

Deno.test("short addresses before an image do not make it count as text", () => {
  const short = { type: "image_url", image_url: { url: "https://a/b" } };
  const image = { type: "image_url", image_url: { url: IMAGE } };
  assertCounted([[IMAGE, MEDIUM_BYTES]], user(...Array(2_000).fill(short), image));
});

Deno.test("a text of more than 100 levels or 1,000,000 items counts with all bytes", () => {
  const list = (inner: string) => `{"messages":[{"images":["${MEDIUM}"]},${inner}]}`;
  const nested = (depth: number) => list(`${"[".repeat(depth)}${"]".repeat(depth)}`);
  const many = (count: number) => list(`"",`.repeat(count) + "1");
  for (const make of [() => nested(98), () => many(999_990)]) {
    const text = make();
    assertEquals(countedBytes(text), text.length - MEDIUM.length + MEDIUM_BYTES);
  }
  for (const make of [() => nested(99), () => many(1_000_000)]) {
    const text = make();
    assertEquals(countedBytes(text), text.length);
  }
});

const NAMES = ("messages input contents data images image_url url file_data source type result " +
  "media_type audio input_audio inline_data arguments a").split(" ");

function values(...longTexts: fc.Arbitrary<string>[]): fc.Arbitrary<unknown> {
  const short = fc.constantFrom("base64", "text", "image/png", "application/pdf", "text/plain");
  return fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 6 }, short, fc.string(), ...longTexts, tie("list"), tie("object")),
    list: fc.array(tie("value"), { maxLength: 4 }),
    object: fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { maxKeys: 6 }),
  })).object;
}

Deno.test("no JSON counts with more bytes than it has, and one without a long text with all", () => {
  const media = fc.constantFrom(IMAGE, PDF, TEXT, MEDIUM, WORDS, "é".repeat(6_000));
  fc.assert(fc.property(values(media), fc.nat(), (value, cut) => {
    const text = JSON.stringify(value);
    const counted = countedBytes(text);
    assertEquals(counted > 0 && counted <= byteLength(text), true);
    const start = text.slice(0, cut % text.length);
    assertEquals(countedBytes(start) <= byteLength(start), true);
  }));
  const longest = fc.constantFrom("a".repeat(MEDIUM_BYTES), IMAGE.slice(0, MEDIUM_BYTES));
  fc.assert(fc.property(fc.oneof(values(longest), fc.jsonValue()), (value) => {
    const text = JSON.stringify(value);
    assertEquals(countedBytes(text), byteLength(text));
  }));
});
