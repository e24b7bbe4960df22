import type { IExportTraceServiceResponse, ISerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { concatBytes } from "../../core/concat_bytes.ts";
import { isObject, parseJson } from "../../core/json/json.ts";
import { utf8Bytes, utf8Text } from "../../formats/utf8.ts";
import type { Collector } from "./collector.ts";

/** Encodes spans and decodes what a collector says of them. */
type SpanSerializer = ISerializer<ReadableSpan[], IExportTraceServiceResponse>;

/** Encodes spans in pieces, and sends them. */
export interface SpanExporter {
  /** Encodes spans as a piece of a request; throws if they cannot be encoded. */
  encode(spans: ReadableSpan[]): Uint8Array;
  /**
   * Sends pieces in one request. Returns whether the collector accepts all their spans. Never
   * rejects.
   */
  send(pieces: readonly Uint8Array[]): Promise<boolean>;
  close(): void;
}

/** Texts before, between and after the pieces of a request. */
interface Frame {
  readonly head: Uint8Array;
  readonly separator: Uint8Array;
  readonly tail: Uint8Array;
}

/** Protobuf merges messages that follow each other: their lists are joined. */
const NO_FRAME: Frame = {
  head: new Uint8Array(),
  separator: new Uint8Array(),
  tail: new Uint8Array(),
};

/** A request in JSON is an object with this list alone. */
const JSON_FRAME: Frame = {
  head: utf8Bytes('{"resourceSpans":['),
  separator: utf8Bytes(","),
  tail: utf8Bytes("]}"),
};

/** Returns an exporter to a collector that takes protobuf. */
export function newProtobufExporter(
  collector: Collector,
  serializer: SpanSerializer,
): SpanExporter {
  return newExporter(collector, serializer, NO_FRAME);
}

/** Returns an exporter to a collector that takes JSON. */
export function newJsonExporter(collector: Collector, serializer: SpanSerializer): SpanExporter {
  return newExporter(collector, strictJson(serializer), JSON_FRAME);
}

function newExporter(
  collector: Collector,
  serializer: SpanSerializer,
  { head, separator, tail }: Frame,
): SpanExporter {
  function encode(spans: ReadableSpan[]): Uint8Array {
    const request = serializer.serializeRequest(spans);
    if (request === undefined) throw new Error("spans are not encoded");
    return request.subarray(head.length, request.length - tail.length);
  }

  async function send(pieces: readonly Uint8Array[]): Promise<boolean> {
    const joined = pieces.flatMap((piece, at) => at === 0 ? [piece] : [separator, piece]);
    const response = await collector.send(concatBytes([head, ...joined, tail]));
    if (response === null) return false;
    try {
      const { partialSuccess } = serializer.deserializeResponse(response);
      return Number(partialSuccess?.rejectedSpans ?? 0) === 0;
    } catch {
      return false;
    }
  }

  return { encode, send, close: collector.close };
}

/** Returns a serializer that throws for a response that is no JSON, unlike that of the packages. */
function strictJson(serializer: SpanSerializer): SpanSerializer {
  return {
    serializeRequest: serializer.serializeRequest,
    deserializeResponse(body) {
      if (body.length > 0 && !isObject(parseJson(utf8Text(body) ?? ""))) {
        throw new Error("the response is no JSON object");
      }
      return serializer.deserializeResponse(body);
    },
  };
}
