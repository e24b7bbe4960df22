// A module that is loaded later as a whole: the bundler gives the names of a CommonJS package only
// to static imports.
export { Agent as HttpAgent } from "node:http";
export { Agent as HttpsAgent } from "node:https";
export {
  createTraceState,
  diag,
  DiagLogLevel,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from "@opentelemetry/api";
export { millisToHrTime, parseTraceParent } from "@opentelemetry/core";
export { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
export { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
export { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
export {
  BatchSpanProcessor,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
