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
  assertEquals(findPeerError(decoder.decode(completion), null), null);
  assertEquals(findPeerError(stream, STREAM_RECORDS), null);
  const short = completionStream(SHORT_STREAM_RECORDS, 8).map((piece) => decoder.decode(piece));
  assertEquals(findPeerError(short.join(""), SHORT_STREAM_RECORDS), null);
});

Deno.test("a peer may write a response with a new ID, another order and further members", () => {
  const message = { content: COMPLETE_TEXT, role: "assistant", extra: {} };
  const choice = { finish_reason: "stop", index: 0, message };
  assertEquals(findPeerError(JSON.stringify({ choices: [choice], id: "other" }), null), null);
  assertEquals(findPeerError(stream.replaceAll("chatcmpl-bench", "other"), STREAM_RECORDS), null);
});

Deno.test("a peer's response with another text or without its end is wrong", () => {
  assertMatch(findPeerError("{}", null) ?? "", /no completion/);
  const text = decoder.decode(completion);
  assertEquals(
    findPeerError(text.replace("switch", "swich"), null),
    "the text differs from the upstream's",
  );
  assertEquals(
    findPeerError(text.replace('"stop"', '"length"'), null),
    "the finish_reason is not stop",
  );
});

Deno.test("a peer's stream that loses a record, its end or its finish is wrong", () => {
  const records = stream.split("\n\n");
  const without = (at: number) => records.toSpliced(at, 1).join("\n\n");
  assertEquals(
    findPeerError(without(7), STREAM_RECORDS),
    "the text of the stream differs from the upstream's",
  );
  assert(findPeerError(stream.replace("[DONE]", ""), STREAM_RECORDS)?.includes("does not end"));
  assertEquals(
    findPeerError(stream.replace('"finish_reason":"stop"', '"finish_reason":null'), STREAM_RECORDS),
    "no record of the stream has the finish_reason stop",
  );
});

Deno.test("a peer's stream with a record that is no JSON object is wrong, though its text is whole", () => {
  for (
    const broken of ['data: {"choices":[{"delta":{"content":"}]}\n\n', "data: []\n\n", "data: \n\n"]
  ) {
    assertEquals(
      findPeerError(broken + stream, STREAM_RECORDS),
      "a record of the stream is no JSON object",
    );
  }
});

Deno.test("a Responses stream of a peer is right with all deltas and its terminal event", () => {
  const deltas = stream.matchAll(/"content":"([^"]+)"/g).map(([, delta]) =>
    `data: ${JSON.stringify({ type: "response.output_text.delta", delta })}\n\n`
  );
  const body = [...deltas].join("");
  assertEquals(
    findPeerError(`${body}data: {"type":"response.completed"}\n\n`, STREAM_RECORDS),
    null,
  );
  assert(findPeerError(body, STREAM_RECORDS)?.includes("does not end"));
});

Deno.test("a peer that answers a stream with a whole response, with fewer records or a whole response with a stream is wrong", () => {
  assertMatch(
    findPeerError(decoder.decode(completion), STREAM_RECORDS) ?? "",
    /^the response is no stream: \{"id"/,
  );
  const short = completionStream(SHORT_STREAM_RECORDS, 1).map((piece) => decoder.decode(piece));
  const differs = "the text of the stream differs from the upstream's";
  assertEquals(findPeerError(short.join(""), STREAM_RECORDS), differs);
  assertEquals(findPeerError(stream, SHORT_STREAM_RECORDS), differs);
  assertMatch(findPeerError(stream, null) ?? "", /^the response is no completion: data/);
});
