import {
  chatRequest,
  completion,
  completionStream,
  expectedRecords,
  messagesStream,
  SHORT_STREAM_RECORDS,
  STREAM_RECORDS,
} from "../../../scripts/bench/payloads.ts";
import { findBodyError } from "../../../scripts/bench/verify.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";

function textOf(pieces: readonly Uint8Array[]): string {
  return pieces.map((piece) => new TextDecoder().decode(piece)).join("");
}

const stream = textOf(completionStream(STREAM_RECORDS, 1));
const short = textOf(completionStream(SHORT_STREAM_RECORDS, 1));
const messages = textOf(messagesStream(STREAM_RECORDS));
const responses = [
  ...stream.matchAll(/"content":"([^"]+)"/g).map(([, delta]) =>
    `event: response.output_text.delta\ndata: ${JSON.stringify({ delta })}\n\n`
  ),
  "event: response.completed\ndata: {}\n\n",
].join("");

const DIFFERS = "the text of the stream differs from the upstream's";

Deno.test("each response of the upstream is right for the request that selects it, and wrong for another one", () => {
  assertEquals(
    findBodyError(textOf([completion]), expectedRecords(chatRequest("json", 1000))),
    null,
  );
  assertEquals(findBodyError(stream, expectedRecords(chatRequest("sse-8", 1000))), null);
  assertEquals(findBodyError(short, expectedRecords(chatRequest("sse-short", 1000))), null);
  assertMatch(
    findBodyError(textOf([completion]), STREAM_RECORDS) ?? "",
    /^the response is no stream/,
  );
  assertMatch(findBodyError(stream, null) ?? "", /^the response differs/);
  assertEquals(findBodyError(short, STREAM_RECORDS), "the stream has 16 text records");
});

Deno.test("a completion that a gateway has made of a message is right with its text and its end", () => {
  const translated = textOf([completion]).replace("chatcmpl-bench", "chatcmpl-1");
  assertEquals(findBodyError(translated, null), null);
  for (
    const altered of [translated.replace("yard", "yarn"), translated.replace('"stop"', "null")]
  ) {
    assertMatch(findBodyError(altered, null) ?? "", /^the completion is not complete/);
  }
});

Deno.test("a stream of each API with an altered word, or without its end, is wrong", () => {
  for (
    const [body, end] of [[stream, "[DONE]"], [messages, "message_stop"], [responses, "completed"]]
  ) {
    assertEquals(findBodyError(body ?? "", STREAM_RECORDS), null);
    assertEquals(findBodyError(body?.replace("yard", "yarn") ?? "", STREAM_RECORDS), DIFFERS);
    assertMatch(
      findBodyError(body?.replaceAll(end ?? "", "") ?? "", STREAM_RECORDS) ?? "",
      /complete|end/,
    );
  }
});
