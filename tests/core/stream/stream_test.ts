import fc from "fast-check";
import { type EventEncoder, translateStream } from "../../../src/core/stream/stream.ts";
import type { Decoder, StreamTranslation } from "../../../src/core/stream/stream.ts";
import type { Usage } from "../../../src/core/stream/events.ts";
import type { StreamRecord } from "../../../src/core/stream/reply.ts";
import { fault, success } from "../../../src/core/failure/result.ts";
import { assertEquals } from "../../support/assert.ts";

const BROKEN = fault("invalid_upstream_response", "broken");

function record(data: string): StreamRecord {
  return { event: null, data, raw: null };
}

/** Each letter of a record is an event; "." is the last of all, "!" cannot be read. */
function lettersDecoder(): Decoder {
  let done = false;
  let read = 0;
  return {
    push({ data }) {
      read += data.length;
      if (data.includes("!")) return BROKEN;
      done = data.endsWith(".");
      return success(
        [...data].filter((one) => one !== ".").map((delta) => ({ type: "text", delta })),
      );
    },
    end: () => done ? success([]) : BROKEN,
    done: () => done,
    usage: () => read === 0 ? null : counted(read),
  };
}

function counted(count: number): Usage {
  return { input: 0, output: count, total: count, cached: 0, cacheWrite: 0, reasoning: 0 };
}

/** Encodes each letter as one record; "?" fails to encode. */
function lettersEncoder(): EventEncoder {
  let usage: Usage | null = null;
  return {
    push(event) {
      if (event.type !== "text") return success([]);
      if (event.delta === "?") return BROKEN;
      usage = counted((usage?.total ?? 0) + 1);
      return success(event.delta === "-" ? [] : [record(event.delta)]);
    },
    end: () => success([record("END")]),
    fail: () => [record("FAILED")],
    done: () => false,
    usage: () => usage,
    resource: () => ({ id: "kept" }),
  };
}

function started(): StreamTranslation {
  return translateStream(lettersDecoder(), lettersEncoder());
}

/** Reads as the driver does: up to the end, or to the first failure and its terminal. */
function run(delivery: StreamTranslation, records: readonly string[]): readonly string[] {
  const out: string[] = [];
  const source = records.values();
  while (!delivery.done()) {
    const next = source.next();
    const step = next.done ? delivery.end() : delivery.push(record(next.value));
    const written = step.ok ? step.value : delivery.fail(step.failure);
    out.push(...written.map(({ data }) => data));
    if (!step.ok) break;
  }
  return out;
}

Deno.test("every event of a record is encoded, and the terminal when the decoder is done", () => {
  const delivery = started();
  assertEquals(delivery.push(record("ab")), success([record("a"), record("b")]));
  assertEquals(delivery.push(record("-")), success([]));
  assertEquals([delivery.done(), delivery.outcome()], [false, null]);
  assertEquals(delivery.push(record("c.")), success([record("c"), record("END")]));
  const usage = { input: 0, output: 4, total: 4, cached: 0, cacheWrite: 0, reasoning: 0 };
  assertEquals([delivery.done(), delivery.outcome()], [true, { resource: { id: "kept" }, usage }]);
  assertEquals([delivery.push(record("d")), delivery.end()], [success([]), success([])]);
});

Deno.test("no output of a record is sent if its decoding or encoding fails", () => {
  for (const data of ["!", "a?", "a?."]) {
    const delivery = started();
    assertEquals<unknown>(delivery.push(record(data)), BROKEN);
    assertEquals([delivery.done(), delivery.outcome()], [false, null]);
  }
  assertEquals<unknown>(started().end(), BROKEN);
});

Deno.test("a stream translation ends with exactly one terminal, after whole records in their order", () => {
  const records = fc.array(fc.stringMatching(/^[a-z-]{0,3}[?!]?\.?$/), { maxLength: 6 });
  fc.assert(fc.property(records, (source) => {
    const out = run(started(), source);
    const last = source.findIndex((data) => /[.?!]/.test(data));
    const isComplete = last >= 0 && !/[?!]/.test(source[last] ?? "");
    const read = source.slice(0, last < 0 ? undefined : isComplete ? last + 1 : last);
    const letters = [...read.join("").replaceAll(/[-.]/g, "")];
    assertEquals(out, [...letters, isComplete ? "END" : "FAILED"]);
  }));
});

Deno.test("the usage is the last that the decoder has read, also from a record that could not be encoded", () => {
  const delivery = started();
  assertEquals(delivery.usage(), null);
  delivery.push(record("ab"));
  assertEquals(delivery.usage(), counted(2));
  delivery.push(record("c?"));
  assertEquals([delivery.usage(), delivery.outcome()], [counted(4), null]);
});
