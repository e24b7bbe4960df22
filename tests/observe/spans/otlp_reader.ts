/**
 * Field of a message of `opentelemetry/proto/trace/v1` and `common/v1`: its name in JSON, and how
 * its value is read.
 */
type Field = readonly [name: string, kind: Kind | Message];
type Kind = "text" | "hex" | "varint" | "flag" | "fixed32" | "nanos" | "double";
type Message = () => Readonly<Record<number, Field>>;

// Numbers and types are those of the .proto files.
const anyValue: Message = () => ({
  1: ["stringValue", "text"],
  2: ["boolValue", "flag"],
  3: ["intValue", "varint"],
  4: ["doubleValue", "double"],
  5: ["arrayValue", () => ({ 1: ["values[]", anyValue] })],
});
const keyValue: Message = () => ({ 1: ["key", "text"], 2: ["value", anyValue] });
const event: Message = () => ({
  1: ["timeUnixNano", "nanos"],
  2: ["name", "text"],
  3: ["attributes[]", keyValue],
  4: ["droppedAttributesCount", "varint"],
});
const link: Message = () => ({
  1: ["traceId", "hex"],
  2: ["spanId", "hex"],
  3: ["traceState", "text"],
  4: ["attributes[]", keyValue],
  5: ["droppedAttributesCount", "varint"],
  6: ["flags", "fixed32"],
});
const span: Message = () => ({
  1: ["traceId", "hex"],
  2: ["spanId", "hex"],
  3: ["traceState", "text"],
  4: ["parentSpanId", "hex"],
  5: ["name", "text"],
  6: ["kind", "varint"],
  7: ["startTimeUnixNano", "nanos"],
  8: ["endTimeUnixNano", "nanos"],
  9: ["attributes[]", keyValue],
  10: ["droppedAttributesCount", "varint"],
  11: ["events[]", event],
  12: ["droppedEventsCount", "varint"],
  13: ["links[]", link],
  14: ["droppedLinksCount", "varint"],
  15: ["status", () => ({ 2: ["message", "text"], 3: ["code", "varint"] })],
  16: ["flags", "fixed32"],
});
const scope: Message = () => ({ 1: ["name", "text"], 2: ["version", "text"] });
const resource: Message = () => ({
  1: ["attributes[]", keyValue],
  2: ["droppedAttributesCount", "varint"],
});
const scopeSpans: Message = () => ({ 1: ["scope", scope], 2: ["spans[]", span] });
const resourceSpans: Message = () => ({
  1: ["resource", resource],
  2: ["scopeSpans[]", scopeSpans],
});
const exportRequest: Message = () => ({ 1: ["resourceSpans[]", resourceSpans] });

/** Decodes an `ExportTraceServiceRequest`; throws for a field that is not in the .proto files. */
export function readProtobuf(bytes: Uint8Array): unknown {
  return readMessage(bytes, exportRequest);
}

function readMessage(bytes: Uint8Array, message: Message): Record<string, unknown> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields = message();
  const read: Record<string, unknown> = {};
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  };
  const piece = (length: number) => bytes.subarray(at, at += length);
  while (at < bytes.length) {
    const tag = Number(varint());
    const field = fields[tag >> 3];
    if (field === undefined) throw new Error(`unknown field ${tag >> 3}`);
    const [name, kind] = field;
    const wireType = tag & 7;
    const expected = typeof kind === "function" ? 2 : WIRE_TYPES[kind];
    if (wireType !== expected) throw new Error(`${name} has the wire type ${wireType}`);
    const value = wireType === 0
      ? varint()
      : wireType === 2
      ? piece(Number(varint()))
      : piece(wireType === 1 ? 8 : 4);
    const decoded = valueOf(value, kind);
    const list = name.endsWith("[]") ? name.slice(0, -2) : null;
    if (list === null) read[name] = decoded;
    else read[list] = [...(read[list] as unknown[] | undefined) ?? [], decoded];
  }
  return read;
}

const WIRE_TYPES: Readonly<Record<Kind, number>> = {
  text: 2,
  hex: 2,
  varint: 0,
  flag: 0,
  fixed32: 5,
  nanos: 1,
  double: 1,
};

/** Returns a value as JSON has it. */
function valueOf(value: bigint | Uint8Array, kind: Kind | Message): unknown {
  if (typeof value === "bigint") return kind === "flag" ? value !== 0n : Number(value);
  if (typeof kind === "function") return readMessage(value, kind);
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  switch (kind) {
    case "text":
      return new TextDecoder("utf-8", { fatal: true }).decode(value);
    case "hex":
      return value.toHex();
    case "fixed32":
      return view.getUint32(0, true);
    case "nanos":
      return String(view.getBigUint64(0, true));
    default:
      return view.getFloat64(0, true);
  }
}
