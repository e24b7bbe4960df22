import type { StreamEvent } from "../../src/core/stream/events.ts";
import { newNdjsonFraming } from "../../src/formats/ndjson.ts";
import { newSseFraming } from "../../src/formats/sse.ts";
import { wires } from "../../src/wires/registry.ts";
import { type Recording, RECORDINGS } from "../e2e/recordings.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { pieces } from "../support/pieces.ts";
import { countingMint } from "./local/target.ts";

/** Returns the events of a body that ends orderly; `ok` is false if it has no end or is broken. */
function decoded({ wire }: Recording, bytes: Uint8Array, size: number) {
  const { framing: name, newDecoder } = wires[wire];
  const framing = name === "sse" ? newSseFraming() : newNdjsonFraming();
  const decoder = newDecoder(countingMint());
  const text = new TextDecoder();
  const events: StreamEvent[] = [];
  const records = [
    ...pieces(bytes, size).flatMap((piece) => framing.push(text.decode(piece, { stream: true }))),
    ...framing.end(),
  ];
  for (const record of records) {
    if (decoder.done()) break;
    const step = decoder.push(record);
    if (!step.ok) return { events, ok: false };
    events.push(...step.value);
  }
  const end = decoder.end();
  return { events: end.ok ? [...events, ...end.value] : events, ok: end.ok };
}

for (const recording of RECORDINGS) {
  const { wire, bytes, clean: [, completeFrom] } = recording;

  Deno.test(`a ${wire} stream that ends at any byte has the beginning of its events, and all of them or no end`, () => {
    const whole = decoded(recording, bytes, bytes.length);
    assert(whole.ok && whole.events.length > 5);
    for (let at = 0; at < bytes.length; at++) {
      const { ok, events } = decoded(recording, bytes.subarray(0, at), 7);
      assertEquals(ok, at >= completeFrom, `${at} bytes`);
      const texts = [events, whole.events.slice(0, events.length)].map((one) =>
        JSON.stringify(one.filter(({ type }) => type !== "usage" && type !== "finish"))
      );
      assertEquals(texts[0], texts[1], `${at} bytes`);
    }
  });
}
