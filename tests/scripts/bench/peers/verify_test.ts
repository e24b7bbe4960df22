import {
  COMPLETE_TEXT,
  completion,
  completionStream,
  SHORT_STREAM_RECORDS,
  STREAM_RECORDS,
} from "../../../../scripts/bench/payloads.ts";
import { findPeerError } from "../../../../scripts/bench/peers/verify.ts";
import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";

const decoder = new TextDecoder();
const stream = completionStream(STREAM_RECORDS, 1).map((piece) => decoder.decode(piece)).join("");

Deno.test("the upstream's response is right, whole or as a stream of both lengths", () => {
  assertEquals(findPeerError(decoder.decode(completion)), null);
  assertEquals(findPeerError(stream), null);
  const short = completionStream(SHORT_STREAM_RECORDS, 8).map((piece) => decoder.decode(piece));
  assertEquals(findPeerError(short.join("")), null);
});

Deno.test("a peer may write a response with a new ID, another order and further members", () => {
  const message = { content: COMPLETE_TEXT, role: "assistant", extra: {} };
  const choice = { finish_reason: "stop", index: 0, message };
  assertEquals(findPeerError(JSON.stringify({ choices: [choice], id: "other" })), null);
  assertEquals(findPeerError(stream.replaceAll("chatcmpl-bench", "other")), null);
});

Deno.test("a peer's response with another text or without its end is wrong", () => {
  assertMatch(findPeerError("{}") ?? "", /no completion/);
  const text = decoder.decode(completion);
  assertEquals(
    findPeerError(text.replace("switch", "swich")),
    "the text differs from the upstream's",
  );
  assertEquals(findPeerError(text.replace('"stop"', '"length"')), "the finish_reason is not stop");
});

Deno.test("a peer's stream that loses a record, its end or its finish is wrong", () => {
  const records = stream.split("\n\n");
  const without = (at: number) => records.toSpliced(at, 1).join("\n\n");
  assertEquals(findPeerError(without(7)), "the text of the stream differs from the upstream's");
  assert(findPeerError(stream.replace("[DONE]", ""))?.includes("does not end"));
  assertEquals(
    findPeerError(stream.replace('"finish_reason":"stop"', '"finish_reason":null')),
    "no record of the stream has the finish_reason stop",
  );
});

Deno.test("a Responses stream of a peer is right with all deltas and its terminal event", () => {
  const deltas = stream.matchAll(/"content":"([^"]+)"/g).map(([, delta]) =>
    `data: ${JSON.stringify({ type: "response.output_text.delta", delta })}\n\n`
  );
  const body = [...deltas].join("");
  assertEquals(findPeerError(`${body}data: {"type":"response.completed"}\n\n`), null);
  assert(findPeerError(body)?.includes("does not end"));
});
