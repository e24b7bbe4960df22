import { newChatEncoder } from "../../src/api/chat/encode_stream.ts";
import { newRelay } from "../../src/api/chat/relay_stream.ts";
import { newMessageEncoder } from "../../src/api/messages/generate/encoder.ts";
import { newRelayStream } from "../../src/api/relay/relay_stream.ts";
import { newResponseEncoder } from "../../src/api/responses/generate/encoder.ts";
import { newNativeRelay } from "../../src/api/responses/native/relay.ts";
import type { StreamEvent } from "../../src/core/stream/events.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { EventEncoder, StreamTranslation } from "../../src/core/stream/stream.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { labelsOf as messageLabels } from "./messages/generate/encoded.ts";
import { labelsOf as responseLabels } from "./responses/encoded.ts";

const LONG_CHARS = 100_000;
const LONG = "x".repeat(LONG_CHARS);

/** The bytes that an encoder or a relay holds after each of these items. */
function heldAfter<Item>(
  codec: Pick<EventEncoder | StreamTranslation, "heldBytes"> & { push(item: Item): unknown },
  items: readonly Item[],
): readonly number[] {
  return items.map((item) => {
    codec.push(item);
    return codec.heldBytes?.() ?? 0;
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

const CALL: StreamEvent = { type: "tool_call", index: 0, id: "t", name: "f" };
const TEXT: StreamEvent = { type: "text", delta: LONG };
const REASONING: StreamEvent = { type: "reasoning", delta: LONG };

function argumentsOf(index: number, delta: string): StreamEvent {
  return { type: "tool_arguments", index, delta };
}

Deno.test("a Messages stream counts thinking and arguments until their block ends, and text that waits for them", () => {
  const encoder = newMessageEncoder(messageLabels());
  const events = [
    REASONING,
    TEXT,
    CALL,
    argumentsOf(0, `{"a":"${LONG}`),
    TEXT,
    argumentsOf(0, '"}'),
    TEXT,
  ];
  assertHeld(heldAfter(encoder, events), 1, 0, 0, 1, 2, 2, 0);
  const refusing = newMessageEncoder(messageLabels({ storesReasoning: true }));
  assertHeld(heldAfter(refusing, [{ type: "refusal", delta: LONG }, REASONING, TEXT]), 1, 3, 2);
});

Deno.test("a Responses stream counts all that its terminal event repeats", () => {
  const encoder = newResponseEncoder(responseLabels());
  const held = heldAfter(encoder, [TEXT, CALL, argumentsOf(0, LONG), REASONING]);
  assertHeld(held, 1, 1, 2, 3);
});

Deno.test("a chat stream counts the reasoning that it stores, up to its limit", () => {
  const encoder = newChatEncoder({
    id: "c",
    created: 1,
    model: "m",
    legacyFunctions: false,
    includeUsage: false,
  });
  assertHeld(heldAfter(encoder, [TEXT, REASONING, REASONING]), 0, 1, 2);
  const most = heldAfter(encoder, Array.from({ length: 50 }, () => REASONING)).at(-1) ?? 0;
  assert(most <= 4 * 1024 * 1024, String(most));
});

function record(value: JsonObject, event: string | null = null) {
  const data = JSON.stringify(value);
  return { event, data, raw: `data: ${data}\n\n` };
}

function chunk(delta: JsonObject, index = 0): ReturnType<typeof record> {
  const choices = [{ index, delta, finish_reason: null }];
  return record({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices });
}

Deno.test("a relayed chat stream counts chunks that wait for an id, and its choices and calls", () => {
  const relay = newRelay({
    identity: { id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
    includeUsage: false,
    extractsReasoning: false,
    idSource: scriptedWorld(),
  });
  const nameless = chunk({ tool_calls: [{ index: 0, function: { name: "f", arguments: LONG } }] });
  const id = chunk({ tool_calls: [{ index: 0, id: "call_1", function: { arguments: "" } }] });
  assertHeld(heldAfter(relay, [nameless, chunk({ content: "a" }), id]), 1, 1, 0);
  const begun = relay.heldBytes?.() ?? 0;
  const choices = Array.from(
    { length: 200 },
    (_, at) =>
      chunk({ tool_calls: [{ index: 0, id: `id_${at}`, function: { name: "f" } }] }, at + 1),
  );
  const grown = (heldAfter(relay, choices).at(-1) ?? 0) - begun;
  assert(grown > 200 * 2_560 && grown < 200 * 4_096, String(grown));
});

Deno.test("a native Responses stream counts its items and its last response for a failure", () => {
  const relay = newNativeRelay(
    {
      expected: null,
      newId: () => "resp_0",
      unix: () => 1,
      model: "m",
      conversation: null,
      storesNothing: false,
    } as unknown as Parameters<typeof newNativeRelay>[0],
  );
  const response = { id: "resp_1", object: "response", status: "in_progress", instructions: LONG };
  const item = { id: "msg_1", type: "message", content: LONG };
  const held = heldAfter(relay, [
    record({ type: "response.created", sequence_number: 0, response }, "response.created"),
    record(
      { type: "response.output_item.done", sequence_number: 1, output_index: 0, item },
      "response.output_item.done",
    ),
  ]);
  assertHeld(held, 1, 2);
});

Deno.test("a relayed stream counts the event that its units are read of", () => {
  const relay = newRelayStream(
    { ends: ".completed", billed: "images", isDelimited: false },
    { count: 1, characters: 0 } as Parameters<typeof newRelayStream>[1],
  );
  const partial = record({ type: "image.partial", b64_json: LONG });
  const last = record({ type: "image.completed", b64_json: LONG });
  assertHeld(heldAfter(relay, [partial, last]), 0, 1);
  assertEquals(relay.done(), true);
});

Deno.test("a relay keeps nothing of long records that it has passed on, or whose other text it does not need", async () => {
  const program = new URL("kept_texts.ts", import.meta.url).pathname;
  const args = ["run", "--no-check", "--v8-flags=--expose-gc", program];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  const text = new TextDecoder().decode(stdout);
  const held = JSON.parse(text.slice(0, text.indexOf("]") + 1)) as readonly number[];
  assert(held.length === 5 && held.every((bytes) => bytes < 8_000_000), text);
});

Deno.test("a relayed chat stream counts the comments of chunks that wait for an id", () => {
  const relay = newRelay({
    identity: { id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
    includeUsage: false,
    extractsReasoning: false,
    idSource: scriptedWorld(),
  });
  const nameless = chunk({ tool_calls: [{ index: 0, function: { name: "f" } }] });
  const commented = { ...nameless, raw: `: ${LONG}\n${nameless.raw}` };
  assertHeld(heldAfter(relay, [nameless, commented]), 0, 1);
});
