// A module that is loaded later as a whole: the bundler gives the names of a CommonJS package only
// to static imports.
export { createTraceState, SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
export { millisToHrTime, parseKeyPairsIntoRecord, parseTraceParent } from "@opentelemetry/core";
export { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
export { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
export { TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace-base";
