import fc from "fast-check";
import { http2Filter, INSTRUCTION_BYTES } from "../../src/runtime/http2_filter.ts";
import { assert, assertEquals } from "../support/assert.ts";

const PREFACE = "PRI * HTTP/2.0\r\n";

/** Runs a filter as the kernel does; returns how many bytes of the segment it keeps. */
function keptBytes(program: Uint8Array<ArrayBuffer>, segment: Uint8Array): number {
  const fields = new DataView(program.buffer);
  const byteAt = (at: number) => {
    assert(at < segment.length, "a load beyond the segment");
    return segment[at]!;
  };
  let a = 0, x = 0, stored = 0;
  for (let at = 0;; at++) {
    const offset = at * INSTRUCTION_BYTES;
    const operand = fields.getUint32(offset + 4, true);
    switch (fields.getUint16(offset, true)) {
      case 0x30:
        a = byteAt(operand);
        break;
      case 0x50:
        a = byteAt(x + operand);
        break;
      case 0x80:
        a = segment.length;
        break;
      case 0x60:
        a = stored;
        break;
      case 0x02:
        stored = a;
        break;
      case 0x07:
        x = a;
        break;
      case 0x54:
        a &= operand;
        break;
      case 0x74:
        a >>>= operand;
        break;
      case 0x1c:
        a -= x;
        break;
      case 0x15:
        at += fields.getUint8(offset + (a === operand ? 2 : 3));
        break;
      case 0x06:
        return operand;
      default:
        throw new Error(`unknown instruction ${at}`);
    }
  }
}

/** A TCP segment with this many words of 4 bytes in its header. */
function segmentOf(words: number, payload: string): Uint8Array {
  const header = new Uint8Array(words * 4).fill(0x50);
  header[12] = words * 16 + 5;
  return new Uint8Array([...header, ...new TextEncoder().encode(payload)]);
}

Deno.test("dropped are the segments that begin HTTP/2 and the beginnings of it, and no other one", () => {
  const program = http2Filter();
  const payloads = fc.oneof(
    fc.tuple(fc.nat(PREFACE.length), fc.string()).map(([at, rest]) => PREFACE.slice(0, at) + rest),
    fc.nat(PREFACE.length).map((length) => PREFACE.slice(0, length)),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 15 }), payloads, (words, payload) => {
      const begins = payload !== "" &&
        (payload.startsWith(PREFACE) || PREFACE.startsWith(payload));
      assertEquals(keptBytes(program, segmentOf(words, payload)), begins ? 0 : 0xffffffff);
    }),
    { numRuns: 500 },
  );
});
