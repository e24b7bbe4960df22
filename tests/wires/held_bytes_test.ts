import type { StreamEvent } from "../../src/core/stream/events.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { newExtractingDecoder } from "../../src/api/reasoning/reasoning_tags.ts";
import { type Decoder, type EventEncoder, translateStream } from "../../src/core/stream/stream.ts";
import { success } from "../../src/core/failure/result.ts";
import { newDecoder as newCompatDecoder } from "../../src/wires/compat/decode.ts";
import { newDecoder as newMessagesDecoder } from "../../src/wires/messages/stream.ts";
import { newDecoder as newResponsesDecoder } from "../../src/wires/responses/stream.ts";
import { newStagedDecoder, newVerifier } from "../../src/wires/verified/verifier.ts";
import type { ResponsePromise } from "../../src/prompt/response_promise.ts";
import { assert } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { PROMISES } from "./verified/verified.ts";

const LONG_CHARS = 100_000;
const LONG = "x".repeat(LONG_CHARS);

function heldAfter(decoder: Decoder, values: readonly JsonObject[]): readonly number[] {
  return values.map((value) => {
    decoder.push({ event: null, data: JSON.stringify(value), raw: null });
    return decoder.heldBytes?.() ?? 0;
  });
}

/** Asserts that the bytes are those of this many long texts, with at most 4 KiB besides. */
function assertHeld(held: readonly number[], ...texts: readonly number[]): void {
  const isNear = (bytes: number, at: number) => {
    const rest = bytes - (texts[at] ?? 0) * LONG_CHARS;
    return rest >= 0 && rest < 4096;
  };
  assert(held.length === texts.length && held.every(isNear), held.join(" "));
}

function block(index: number, content_block: JsonObject): JsonObject {
  return { type: "content_block_start", index, content_block };
}

function delta(index: number, value: JsonObject): JsonObject {
  return { type: "content_block_delta", index, delta: value };
}

Deno.test("a Messages decoder counts the thinking and the arguments of its open blocks", () => {
  const held = heldAfter(newExtractingDecoder(newMessagesDecoder(scriptedWorld())), [
    block(0, { type: "thinking", thinking: "" }),
    delta(0, { type: "thinking_delta", thinking: LONG }),
    block(1, { type: "tool_use", id: "t", name: "f", input: {} }),
    delta(1, { type: "input_json_delta", partial_json: LONG }),
    { type: "content_block_stop", index: 0 },
    block(2, { type: "text", text: "" }),
    delta(2, { type: "citations_delta", citation: { type: "web", cited_text: LONG } }),
    { type: "content_block_stop", index: 1 },
    { type: "content_block_stop", index: 2 },
  ]);
  assertHeld(held, 0, 1, 1, 2, 1, 1, 2, 1, 0);
});

Deno.test("a Messages decoder counts blocks that never end", () => {
  const blocks = Array.from({ length: 300 }, (_, at) => block(at, { type: "text", text: "" }));
  const held = heldAfter(newMessagesDecoder(scriptedWorld()), blocks).at(-1) ?? 0;
  assert(held >= 300 * 512, String(held));
});

Deno.test("a Messages decoder counts what its blocks begin with", () => {
  const held = heldAfter(newMessagesDecoder(scriptedWorld()), [
    block(0, { type: "tool_use", id: "t", name: "f", input: { a: LONG } }),
    block(1, { type: "text", text: "", citations: [{ type: "web", cited_text: LONG }] }),
    block(2, { type: "thinking", thinking: "", signature: LONG }),
    { type: "content_block_stop", index: 1 },
  ]);
  assertHeld(held, 1, 2, 3, 2);
});

Deno.test("a compat decoder counts names, IDs and signatures that wait with their call, and waits for no more than 1 MiB of them", () => {
  const pieces = Array.from({ length: 12 }, (_, index): JsonObject => {
    const call = { index, extra_content: { a: LONG }, function: { name: `f${index}` } };
    return { choices: [{ index: 0, delta: { tool_calls: [call] } }] };
  });
  const decoder = newCompatDecoder(scriptedWorld());
  assertHeld(heldAfter(decoder, pieces.slice(0, 2)), 1, 2);
  const most = heldAfter(decoder, pieces.slice(2)).at(-1) ?? 0;
  assert(most < LONG_CHARS, String(most));
  const named = newCompatDecoder(scriptedWorld());
  const call = { index: 0, function: { name: LONG, arguments: "{" } };
  assertHeld(heldAfter(named, [{ choices: [{ index: 0, delta: { tool_calls: [call] } }] }]), 1);
});

Deno.test("a compat decoder counts arguments that wait for the ID of their call, and its calls", () => {
  const piece = (called: JsonObject) => ({
    choices: [{ index: 0, delta: { tool_calls: [called] } }],
  });
  const held = heldAfter(newCompatDecoder(scriptedWorld()), [
    piece({ index: 0, function: { name: "f", arguments: LONG } }),
    piece({ index: 0, id: "call_1", function: { arguments: "" } }),
  ]);
  assertHeld(held, 1, 0);
});

Deno.test("a Responses decoder counts its items", () => {
  const items = Array.from({ length: 300 }, (_, at): JsonObject => ({
    type: "response.output_item.added",
    sequence_number: at,
    output_index: at,
    item: { id: `m${at}`, type: "message", role: "assistant", status: "in_progress", content: [] },
  }));
  const held = heldAfter(newResponsesDecoder(scriptedWorld()), items).at(-1) ?? 0;
  assert(held >= 300 * 512, String(held));
});

const STRICT_CALL: StreamEvent = { type: "tool_call", index: 0, id: "c", name: "f" };

for (
  const [name, promises, events] of [
    ["a strict call", [PROMISES.strict], [STRICT_CALL, {
      type: "tool_arguments",
      index: 0,
      delta: LONG,
    }]],
    ["text for a call", [PROMISES.textCall], [{ type: "text", delta: LONG }]],
    ["text for a schema", [PROMISES.schema], [{ type: "text", delta: `{"n":"${LONG}` }]],
    ["text that may be an object", [PROMISES.jsonOrCalls], [{ type: "text", delta: LONG }]],
    ["the start of a stop text", [{ ...PROMISES.stop, texts: [`${LONG}END`] }], [{
      type: "text",
      delta: LONG,
    }]],
  ] as const satisfies readonly (readonly [
    string,
    readonly ResponsePromise[],
    readonly StreamEvent[],
  ])[]
) {
  Deno.test(`the check of a response counts ${name} that it holds back or stores`, () => {
    const [first, ...others] = events;
    const verifier = newVerifier(promises, {
      isStream: true,
      idSource: scriptedWorld(),
      onResult() {},
    });
    const source: Decoder = {
      push: () => success(events),
      end: () => success([]),
      done: () => false,
      usage: () => null,
      heldBytes: () => LONG_CHARS,
    };
    assert(first !== undefined && others.length < 2);
    assertHeld(heldAfter(newStagedDecoder(source, verifier), [{}]), 2);
  });
}

Deno.test("a translation counts its decoder, its encoder, and the names and IDs of its calls", () => {
  const encoder: EventEncoder = {
    push: () => success([]),
    end: () => success([]),
    fail: () => [],
    done: () => false,
    usage: () => null,
    resource: () => null,
    heldBytes: () => LONG_CHARS,
  };
  const translation = translateStream({
    push: () => success([{ type: "tool_call", index: 0, id: LONG, name: LONG }]),
    end: () => success([]),
    done: () => false,
    usage: () => null,
    heldBytes: () => LONG_CHARS,
  }, encoder);
  translation.push({ event: null, data: "", raw: null });
  assertHeld([translation.heldBytes?.() ?? 0], 4);
});
