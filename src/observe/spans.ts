import type { HrTime, Span, SpanOptions } from "@opentelemetry/api";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import { VERSION } from "../core/build.ts";
import type { Log } from "./log.ts";
import type { Attempt, CallReport, Sink } from "./report.ts";
import {
  attemptAttributes,
  attemptName,
  isFailed,
  requestAttributes,
  requestName,
} from "./span_attributes.ts";

/** Time limit of the span export at shutdown. */
const FLUSH_TIMEOUT_MS = 5_000;

/** Export of call spans to a collector. */
export interface Spans {
  readonly sink: Sink;
  /** Sends the queued spans and releases all resources within 5 s; for the end of the process. */
  flush(): Promise<void>;
}

/** Settings of span export. */
export interface SpanSettings {
  /** Service name; `OTEL_SERVICE_NAME` overrides it. */
  readonly serviceName: string;
  /**
   * Variables that enable spans. The packages read all other variables from the process
   * environment.
   */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Pick<Log, "info" | "warn">;
  /** Returns milliseconds since 1970. */
  readonly clock?: () => number;
}

/**
 * Returns span export over OTLP/HTTP, with one span for each call and one for each attempt. Null if
 * the standard `OTEL_*` variables name no collector or disable it; then no package is loaded.
 */
export async function newSpans(settings: SpanSettings): Promise<Spans | null> {
  if (!isEnabled(settings.environment)) return null;
  const { OTLPTraceExporter } = await import("./telemetry_library.ts");
  return await spansTo(new OTLPTraceExporter(), settings);
}

/** Returns span export to this exporter, in batches. */
export async function spansTo(exporter: SpanExporter, settings: SpanSettings): Promise<Spans> {
  const {
    BasicTracerProvider,
    BatchSpanProcessor,
    detectResources,
    envDetector,
    millisToHrTime,
    parseTraceParent,
    resourceFromAttributes,
    ROOT_CONTEXT,
    SpanKind,
    SpanStatusCode,
    trace,
  } = await import("./telemetry_library.ts");
  const { clock = Date.now, serviceName, log } = settings;
  const named = resourceFromAttributes({
    "service.name": serviceName,
    "service.version": VERSION,
  });
  const provider = new BasicTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(watched(exporter, log))],
  });
  const tracer = provider.getTracer("switchyard", VERSION);

  function exportSpans(report: Readonly<CallReport>) {
    const began = clock() - report.ms.total;
    const at = (ms: number): HrTime => millisToHrTime(began + ms);
    const parent = parseTraceParent(report.traceparent ?? "");
    const outside = parent === null
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
    const request = tracer.startSpan(requestName(report), {
      kind: SpanKind.SERVER,
      startTime: at(0),
      attributes: requestAttributes(report),
    }, outside);
    const { earlyHead } = report.ms;
    if (earlyHead !== null) request.addEvent("early_head", at(earlyHead));
    const inside = trace.setSpan(ROOT_CONTEXT, request);
    for (const one of report.attempts) {
      const { failure, ended } = decideEnding(report, one);
      const options: SpanOptions = {
        kind: SpanKind.CLIENT,
        startTime: at(one.began),
        attributes: attemptAttributes(report, one, failure),
      };
      end(tracer.startSpan(attemptName(report, one), options, inside), failure !== null, at(ended));
    }
    end(request, isFailed(report), at(report.ms.total));
  }

  function end(span: Span, isError: boolean, time: HrTime) {
    if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(time);
  }

  return { sink: exportSpans, flush: () => within(FLUSH_TIMEOUT_MS, provider.shutdown()) };
}

function isEnabled(environment: SpanSettings["environment"]): boolean {
  const value = (name: string) => (environment[name] ?? "").trim();
  if (value("OTEL_SDK_DISABLED").toLowerCase() === "true") return false;
  const exporters = value("OTEL_TRACES_EXPORTER") || "otlp";
  if (!exporters.split(",").some((word) => word.trim() === "otlp")) return false;
  return value("OTEL_EXPORTER_OTLP_ENDPOINT") !== "" ||
    value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") !== "";
}

/**
 * Returns failure and end of an attempt; the attempt that delivers a stream ends and fails with the
 * stream.
 */
function decideEnding(report: Readonly<CallReport>, one: Attempt) {
  const isDelivering = report.stream && one.outcome === "success" && one === report.attempts.at(-1);
  if (!isDelivering) {
    return { failure: one.outcome === "success" ? null : one.outcome, ended: one.ended };
  }
  return { failure: report.failure?.kind ?? null, ended: report.ms.total };
}

/** Returns an exporter that logs when the collector begins to fail and when it recovers. */
function watched(exporter: SpanExporter, log: SpanSettings["log"]): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const fails = result.error !== undefined || result.code !== 0;
        // The error may contain the address of the collector with credentials.
        if (fails && !isFailing) log.warn("spans are lost: the collector does not accept them");
        if (!fails && isFailing) log.info("the collector accepts spans again");
        isFailing = fails;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  try {
    await Promise.race([work, late]);
  } catch {
    // The exporter has already logged the failure.
  } finally {
    clearTimeout(timer);
  }
}
