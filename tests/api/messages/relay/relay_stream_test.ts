import { newMessageRelay } from "../../../../src/api/messages/relay/relay_stream.ts";
import { isRefusal } from "../../../../src/core/failure/failure.ts";
import type { JsonObject } from "../../../../src/core/json/json.ts";
import { messageOf } from "../../../../src/core/failure/openai_error.ts";
import type { StreamRecord } from "../../../../src/core/stream/reply.ts";
import { fault } from "../../../../src/core/failure/result.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";

function record(event: string | null, data: string): StreamRecord {
  const name = event === null ? "" : `event:${event}\r\n`;
  return { event, data, raw: `${name}data:${data}\r\n\r\n` };
}

function event(type: string, fields: JsonObject = {}): StreamRecord {
  return record(type, JSON.stringify({ type, ...fields }));
}

const START = event("message_start", { message: { usage: { input_tokens: 3, output_tokens: 1 } } });
const PING = event("ping");
const COMMENT: StreamRecord = { event: null, data: "", raw: ": alive\n\n" };
const BLOCK = event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
const DELTA = event("message_delta", { delta: {}, usage: { output_tokens: 9 } });
const STOP = event("message_stop");

Deno.test("records wait for the first content_block_start or message_delta, and are sent as received", () => {
  for (const first of [BLOCK, DELTA]) {
    const relay = newMessageRelay("r", []);
    for (const early of [START, PING, COMMENT, event("later_event")]) {
      assertEquals(valueOf(relay.push(early)), []);
    }
    assertEquals(valueOf(relay.push(first)), [START, PING, COMMENT, event("later_event"), first]);
    assertEquals(valueOf(relay.push(COMMENT)), [COMMENT]);
  }
});

Deno.test("the first message_stop ends the stream, and everything after it is ignored", () => {
  const relay = newMessageRelay("r", []);
  for (const one of [START, BLOCK, DELTA]) relay.push(one);
  assertEquals([relay.done(), relay.outcome()], [false, null]);
  assertEquals(valueOf(relay.push(STOP)), [STOP]);
  assert(relay.done());
  assertEquals(valueOf(relay.push(STOP)), []);
  assertEquals(valueOf(relay.push(event("error"))), []);
  assertEquals(valueOf(relay.end()), []);
});

Deno.test("the type in the data decides where a record has no known event name", () => {
  for (const name of [null, "message"]) {
    const relay = newMessageRelay("r", []);
    for (const one of [START, BLOCK, DELTA]) relay.push(record(name, one.data));
    assertEquals(relay.usage()?.output, 9);
    relay.push(record(name, STOP.data));
    assert(relay.done());
  }
});

Deno.test("later token counts that are numbers replace earlier ones", () => {
  const relay = newMessageRelay("r", []);
  const usage = { input_tokens: 5, cache_read_input_tokens: 20, output_tokens: 1 };
  relay.push(event("message_start", { message: { usage } }));
  assertEquals(relay.usage()?.input, 25);
  const later = [
    { input_tokens: null, cache_read_input_tokens: 30, cache_creation_input_tokens: 100 },
    { input_tokens: "9", output_tokens: 4 },
    { output_tokens: 8, output_tokens_details: { thinking_tokens: 2 } },
  ];
  for (const usage of later) relay.push(event("message_delta", { usage }));
  relay.push(STOP);
  assertEquals(relay.outcome(), {
    resource: null,
    usage: { input: 135, output: 8, total: 143, cached: 30, cacheWrite: 100, reasoning: 2 },
  });
});

Deno.test("a usage that cannot be read is not counted, and its record is passed on", () => {
  const relay = newMessageRelay("r", []);
  const odd = event("message_delta", { usage: { output_tokens: 1.5 } });
  assertEquals(valueOf(relay.push(odd)), [odd]);
  assertEquals(relay.usage(), null);
});

Deno.test("malformed records, unknown events and any order of blocks are passed on unread", () => {
  const relay = newMessageRelay("r", []);
  relay.push(BLOCK);
  const odd = [
    record(null, "{not json"),
    record(null, "[1]"),
    record(null, '{"type":1}'),
    record("content_block_delta", "{"),
    record("message_delta", "{"),
    record("message_start", "1"),
    record("later_event", "text"),
    event("content_block_stop", { index: 7 }),
    BLOCK,
    START,
    { event: "message_stop", data: "", raw: "event: message_stop\n\n" },
  ];
  for (const one of odd) assertEquals(valueOf(relay.push(one)), [one]);
  assert(!relay.done());
});

Deno.test("an error event or an end before the first content is a failed attempt", () => {
  const error = event("error", { error: { type: "overloaded_error", message: "Overloaded" } });
  for (const one of [error, record(null, error.data), record("error", "broken")]) {
    const relay = newMessageRelay("r", []);
    relay.push(START);
    const pushed = relay.push(one);
    assert(!pushed.ok && !isRefusal(pushed.failure));
    assertEquals(pushed.failure.kind, "upstream_unavailable");
  }
  const stopped = newMessageRelay("r", []);
  stopped.push(START);
  for (const ended of [stopped.push(STOP), stopped.end(), newMessageRelay("r", []).end()]) {
    assert(!ended.ok);
    assertEquals(ended.failure.kind, "invalid_upstream_response");
  }
});

Deno.test("the upstream's own error event after the first content is the terminal, as it was received", () => {
  const relay = newMessageRelay("r", []);
  for (const one of [START, BLOCK]) relay.push(one);
  const error = record("error", '{ "type":"error","error":{"type":"overloaded_error"} }');
  const pushed = relay.push(error);
  assert(!pushed.ok);
  assertEquals(relay.fail(pushed.failure), [error]);
  assertEquals(relay.usage()?.input, 3);
});

Deno.test("a stream that breaks without message_stop ends with one error event", () => {
  const relay = newMessageRelay("r-1", []);
  for (const one of [START, BLOCK, DELTA]) relay.push(one);
  const ended = relay.end();
  assert(!ended.ok);
  const { failure } = fault("upstream_response_too_large", "Too large.");
  for (
    const [cause, message] of [[ended.failure, messageOf(ended.failure)], [
      failure,
      "Too large.",
    ]] as const
  ) {
    const data = { type: "error", error: { type: "api_error", message }, request_id: "r-1" };
    assertEquals(relay.fail(cause), [{ event: "error", data: JSON.stringify(data), raw: null }]);
  }
  assertEquals(relay.outcome(), null);
  assertEquals(relay.usage()?.output, 9);
});

Deno.test("an error event that holds a key of the provider or a signature is replaced by the gateway's own", () => {
  const signature = `secret: Signature=${"0a".repeat(32)}`;
  const escaped = signature.replace("S", "\\u0053");
  for (const key of ["sk-secret", "sk\\u002dsecret", signature, escaped]) {
    const relay = newMessageRelay("r-1", ["sk-secret"]);
    for (const one of [START, BLOCK]) relay.push(one);
    const pushed = relay.push(record("error", `{"type":"error","error":{"message":"${key}"}}`));
    assert(!pushed.ok);
    const [only, ...others] = relay.fail(pushed.failure);
    assertEquals([only?.event, others.length], ["error", 0]);
    assert(!only?.data.includes("secret"), only?.data);
  }
});
