import { countedBytes } from "../../src/access/text_bytes.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";

const MEDIUM = "Ab9+/-_".repeat(20_000);

/** Bytes that a medium counts. */
const MEDIUM_BYTES = 4_800;

Deno.test("a medium counts as 1,200 tokens in the format of each protocol, and the text around it with all bytes", () => {
  const url = `data:image/png;base64,${MEDIUM}`;
  const requests: readonly (readonly [media: readonly string[], request: JsonObject])[] = [
    [[url], { content: [{ type: "image_url", image_url: { url } }, { text: "déjà" }] }],
    [[MEDIUM], { content: [{ type: "input_audio", input_audio: { data: MEDIUM } }] }],
    [[url], { content: [{ type: "file", file: { filename: "a", file_data: url } }] }],
    [[url, url], { input: [{ image_url: url }, { type: "input_file", file_data: url }] }],
    [[MEDIUM], { source: { type: "base64", media_type: "a/b", data: MEDIUM } }],
    [[MEDIUM, MEDIUM], { messages: [{ content: "a", images: [MEDIUM, "aGk=", MEDIUM] }] }],
  ];
  for (const [media, request] of requests) {
    for (const indent of [undefined, 1]) {
      const text = JSON.stringify(request, null, indent);
      const left = media.reduce((bytes, { length }) => bytes + length - MEDIUM_BYTES, 0);
      assertEquals(countedBytes(text), new TextEncoder().encode(text).length - left);
    }
  }
});

Deno.test("characters of a medium may be escaped, and it may have lines", () => {
  const lines = MEDIUM.replaceAll(/.{76}/g, "$&\r\n");
  const url = `{"url":"${`data:image/png;base64,${MEDIUM}`.replaceAll("/", "\\/")}"}`;
  assertEquals(countedBytes(url), '{"url":""}'.length + MEDIUM_BYTES);
  const escaped = MEDIUM.replaceAll("+", "\\u002B").replaceAll("/", "\\u002f") + "\\u003D";
  assertEquals(countedBytes(`{"data":"${escaped}"}`), '{"data":""}'.length + MEDIUM_BYTES);
  assertEquals(
    countedBytes(JSON.stringify({ b64_json: lines })),
    '{"b64_json":""}'.length + MEDIUM_BYTES,
  );
});

Deno.test("a text that looks like a medium counts with all bytes", () => {
  const requests: readonly JsonObject[] = [
    { content: MEDIUM },
    { content: `{"data":"${MEDIUM}"}` },
    { data: `${MEDIUM} ${MEDIUM}` },
    { data: `${MEDIUM}é` },
    { data: `${MEDIUM}"` },
    { data: `${MEDIUM}\t${MEDIUM}` },
    { url: `https://a/${MEDIUM}` },
    { data: "a".repeat(MEDIUM_BYTES) },
  ];
  for (const request of requests) {
    const text = JSON.stringify(request);
    assertEquals(countedBytes(text), new TextEncoder().encode(text).length);
  }
  const cut = `{"data":"${MEDIUM}`;
  assertEquals(countedBytes(cut), cut.length);
});

Deno.test("of many members that may hold media, the first 1,000 are looked at", () => {
  for (
    const before of [{ images: Array(1_000).fill("") }, Array(1_000).fill({ url: "" })] as const
  ) {
    const text = JSON.stringify([before, { data: MEDIUM }]);
    assertEquals(countedBytes(text), text.length);
  }
});
