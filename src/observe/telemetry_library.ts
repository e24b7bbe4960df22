// A module that is loaded later as a whole: the bundler gives the names of a CommonJS package only
// to static imports.
export { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
export { millisToHrTime, parseTraceParent } from "@opentelemetry/core";
export { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
export { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
export { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
