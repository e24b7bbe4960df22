import { newChatEncoder } from "../../src/api/chat/encode_stream.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { type Decoder, translateStream } from "../../src/core/stream/stream.ts";
import { newCallIds } from "../../src/wires/call_ids.ts";
import {
  decode as decodeCompat,
  newDecoder as newCompatDecoder,
} from "../../src/wires/compat/decode.ts";
import { decode as decodeLocal } from "../../src/wires/local/decode.ts";
import { decode as decodeMessages } from "../../src/wires/messages/decode.ts";
import { newDecoder as newMessagesDecoder } from "../../src/wires/messages/stream.ts";
import { decode as decodeResponses } from "../../src/wires/responses/decode.ts";
import { newDecoder } from "../../src/wires/responses/stream.ts";
import type { IdSource } from "../../src/wires/wire.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

Deno.test("the first call with an ID keeps it, and no other call of the response gets it", () => {
  const nameCall = newCallIds(scriptedWorld());
  const given = ["a", "a", "b", "", undefined, null, 7, "a"];
  const ids = given.map(nameCall);
  assertEquals([ids[0], ids[2]], ["a", "b"]);
  assertEquals(new Set(ids).size, given.length);
  for (const [at, id] of ids.entries()) {
    if (at !== 0 && at !== 2) assert(/^call_[0-9a-f]{24}$/.test(id), id);
  }
});

Deno.test("an upstream ID equal to an ID generated in the same response is replaced", () => {
  const nameCall = newCallIds(scriptedWorld());
  const made = nameCall("");
  assert(nameCall(made) !== made);
});

/** Whole responses of each protocol with as many calls. */
const CALLED: readonly (readonly [typeof decodeCompat, (calls: number) => JsonObject])[] = [
  [decodeCompat, (calls) => {
    const tool_calls = Array(calls).fill({ function: { name: "f" } });
    return { choices: [{ message: { tool_calls }, finish_reason: "stop" }] };
  }],
  [decodeMessages, (calls) => ({
    content: Array(calls).fill({ type: "tool_use", id: "", name: "f", input: {} }),
    stop_reason: "tool_use",
  })],
  [decodeResponses, responseOf],
  [decodeLocal, (calls) => {
    const tool_calls = Array(calls).fill({ function: { name: "f" } });
    return { message: { tool_calls }, done: true };
  }],
];

function responseOf(calls: number): JsonObject {
  const call = { type: "function_call", call_id: "c", name: "f", arguments: "" };
  return { object: "response", id: "r", status: "completed", output: Array(calls).fill(call) };
}

Deno.test("a response of any protocol has at most 5,000 calls", () => {
  for (const [decode, answer] of CALLED) {
    const kinds = [5_000, 5_001].map((calls) => {
      const value = answer(calls);
      const read = decode({ text: JSON.stringify(value), value }, scriptedWorld());
      return read.ok ? "read" : read.failure.kind;
    });
    assertEquals(kinds, ["read", "upstream_response_too_large"]);
  }
  const kinds = [5_000, 5_001].map((calls) => {
    const event = { type: "response.completed", sequence_number: 1, response: responseOf(calls) };
    const data = JSON.stringify(event);
    const read = newDecoder(scriptedWorld()).push({ event: null, data, raw: null });
    return read.ok ? "read" : read.failure.kind;
  });
  assertEquals(kinds, ["read", "upstream_response_too_large"]);
});

/** Records of which each begins one more call, block, item or part of a stream. */
const BEGUN: readonly (readonly [(idSource: IdSource) => Decoder, (at: number) => JsonObject])[] = [
  [newCompatDecoder, (index) => {
    const delta = { tool_calls: [{ index, id: `c${index}`, function: { name: "f" } }] };
    return { choices: [{ index: 0, delta }] };
  }],
  [newMessagesDecoder, (index) => ({
    type: "content_block_start",
    index,
    content_block: { type: "tool_use", id: `t${index}`, name: "f", input: {} },
  })],
  [newMessagesDecoder, (index) => ({
    type: "content_block_start",
    index,
    content_block: { type: "text", text: "" },
  })],
  [newDecoder, (output_index) => ({
    type: "response.output_item.added",
    output_index,
    item: { type: "message", id: `m${output_index}`, role: "assistant", content: [] },
  })],
  [newDecoder, (at) =>
    at === 0
      ? {
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "message", id: "m", role: "assistant", content: [] },
      }
      : {
        type: "response.output_text.delta",
        output_index: 0,
        content_index: at,
        item_id: "m",
        delta: "a",
      }],
];

Deno.test("a stream of any protocol has at most 5,000 calls, blocks, items or parts in all its records", () => {
  for (const [decoderOf, recordAt] of BEGUN) {
    const encoder = newChatEncoder({
      id: "c",
      created: 1,
      model: "m",
      legacyFunctions: false,
      includeUsage: false,
    });
    const stream = translateStream(decoderOf(scriptedWorld()), encoder);
    const kindAt = (at: number) => {
      const data = JSON.stringify({ sequence_number: at, ...recordAt(at) });
      const read = stream.push({ event: null, data, raw: null });
      return read.ok ? "read" : read.failure.kind;
    };
    const kinds = Array.from({ length: 5_001 }, (_, at) => kindAt(at));
    const first = kinds.findIndex((kind) => kind !== "read");
    assertEquals([first, kinds[first]], [5_000, "upstream_response_too_large"]);
  }
});
