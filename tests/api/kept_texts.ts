// Prints the bytes that relays hold after 64 records of 1 MB each, of which they keep little.
import { newRelay } from "../../src/api/chat/relay_stream.ts";
import { newNativeRelay } from "../../src/api/responses/native/relay.ts";
import { keptRecord, type StreamRecord } from "../../src/core/stream/reply.ts";
import type { StreamTranslation } from "../../src/core/stream/stream.ts";
import { newSseFraming } from "../../src/formats/sse.ts";
import { scriptedWorld } from "../support/world.ts";

const RECORD_COUNT = 64;

function usedBytes(): number {
  (globalThis as unknown as { gc(): void }).gc();
  return Deno.memoryUsage().heapUsed;
}

/** A text of 1 MB that no other record has. */
function long(at: number): string {
  return `${at} `.padEnd(1_000_000, "x");
}

function chunk(delta: object): object {
  const choices = [{ index: 0, delta, finish_reason: null }];
  return { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices };
}

function relay(): StreamTranslation {
  return newRelay({
    identity: { id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
    includeUsage: false,
    extractsReasoning: false,
    idSource: scriptedWorld(),
  });
}

function nativeRelay(): StreamTranslation {
  const options = { expected: "resp_1", newId: () => "", unix: () => 1, model: "m" };
  return newNativeRelay(
    { ...options, conversation: null, storesNothing: false } as unknown as Parameters<
      typeof newNativeRelay
    >[0],
  );
}

function calls(call: (at: number) => object): (at: number) => string {
  return (at) => `data: ${JSON.stringify(chunk({ tool_calls: [call(at)] }))}\n\n`;
}

const STREAMS: readonly (readonly [StreamTranslation, (at: number) => string])[] = [
  [
    relay(),
    calls((index) => ({ index, id: `c${index}`, function: { name: "f", arguments: long(index) } })),
  ],
  [relay(), calls((at) => ({ index: long(at), id: `c${at}`, function: { name: "f" } }))],
  [relay(), (at) => `: ${long(at)}\n${calls(() => ({ index: 0, function: { name: "f" } }))(at)}`],
  [nativeRelay(), (at) => {
    const item = { type: "message", id: `msg_${at}`, content: [] };
    const type = "response.output_item.done";
    const event = { type, sequence_number: at, output_index: at, item, more: long(at) };
    return `data: ${JSON.stringify(event)}\n\n`;
  }],
];

const held: number[] = [];
const kept: unknown[] = [];
for (const [translation, textAt] of STREAMS) {
  const framing = newSseFraming();
  const before = usedBytes();
  for (let at = 0; at < RECORD_COUNT; at++) {
    for (const record of framing.push(textAt(at))) {
      if (!translation.push(record).ok) throw new Error(record.data.slice(0, 200));
    }
  }
  kept.push(translation);
  held.push(usedBytes() - before);
}
const records: StreamRecord[] = [];
const before = usedBytes();
for (let at = 0; at < RECORD_COUNT; at++) {
  const text = long(at);
  records.push(keptRecord({ event: null, data: text.slice(0, 100), raw: text.slice(50, 200) }));
}
held.push(usedBytes() - before);
kept.push(records);
console.log(JSON.stringify(held), kept.length);
