import type { IExportTraceServiceResponse, ISerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import { isObject, parseJson } from "../../core/json/json.ts";
import { utf8Text } from "../../formats/utf8.ts";
import type { Collector } from "./collector.ts";

/** Encodes spans and decodes what a collector says of them. */
type SpanSerializer = ISerializer<ReadableSpan[], IExportTraceServiceResponse>;

/** Returns an exporter that sends spans to a collector. */
export function newExporter(collector: Collector, serializer: SpanSerializer): SpanExporter {
  async function isAccepted(spans: ReadableSpan[]): Promise<boolean> {
    const body = serializer.serializeRequest(spans);
    if (body === undefined) return false;
    const response = await collector.send(new Uint8Array(body));
    if (response === null) return false;
    const { partialSuccess } = serializer.deserializeResponse(response);
    return Number(partialSuccess?.rejectedSpans ?? 0) === 0;
  }

  return {
    export(spans, done) {
      void isAccepted(spans).catch(() => false).then((accepts) => done({ code: accepts ? 0 : 1 }));
    },
    shutdown: () => Promise.resolve(collector.close()),
  };
}

/** Returns a serializer that throws for a response that is no JSON, unlike that of the packages. */
export function strictJson(serializer: SpanSerializer): SpanSerializer {
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
