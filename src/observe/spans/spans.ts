import type { Context, DiagLogger, HrTime, Link, Span, SpanOptions } from "@opentelemetry/api";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import { VERSION } from "../../core/build.ts";
import type { RequestHeaders } from "../../core/header_fields.ts";
import type { Log } from "../log.ts";
import type { Attempt, CallReport, Sink } from "../report.ts";
import { AttemptFacts, newSilentAttempt, type NextTurn } from "./attempt_facts.ts";
import { boundedAttributes } from "./bounds.ts";
import type { AttemptSpan, CallSpan, SpanIds } from "../../core/call_span.ts";
import {
  attemptAttributes,
  attemptName,
  isFailed,
  requestAttributes,
  requestName,
  type SpanProvider,
} from "./span_attributes.ts";

/** Time limit of the span export at shutdown. */
const FLUSH_TIMEOUT_MS = 5_000;

/** Longest `tracestate` of a client that is kept (W3C Trace Context, section 3.3.1.3). */
const MAX_TRACESTATE_CHARS = 512;

/** Maximum number of attributes of a span. */
const MAX_ATTRIBUTES = 64;

/** Export of call spans to a collector. */
export interface Spans {
  /** Begins the span of a call that begins now, and sets it in its report. */
  begin(report: CallReport, headers: Pick<RequestHeaders, "get">): void;
  /** Ends the span of a finished call. */
  readonly sink: Sink;
  /** Sends the queued spans and releases all resources within 5 s; for the end of the process. */
  flush(): Promise<void>;
}

/** Settings of span export. */
export interface SpanSettings {
  /** Service name; `OTEL_SERVICE_NAME` overrides it. */
  readonly serviceName: string;
  /** Encoding; `auto` for that of the standard variables, else JSON. */
  readonly protocol: "auto" | "http/json" | "http/protobuf";
  /**
   * Variables that enable spans. The packages read all other variables from the process
   * environment.
   */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Pick<Log, "info" | "warn">;
  /** Returns milliseconds since 1970. */
  readonly clock?: () => number;
  /** Returns the facts of a provider; null if the configuration does not name it any more. */
  readonly provider: (id: string) => SpanProvider | null;
  /** Returns the turn for the next piece of a large text. */
  readonly turn: NextTurn;
}

/**
 * Returns span export over OTLP/HTTP, with one span for each call and one for each attempt. Null if
 * the standard `OTEL_*` variables name no collector or disable it; then no package is loaded.
 */
export async function newSpans(settings: SpanSettings): Promise<Spans | null> {
  const { environment, log } = settings;
  if (!isEnabled(environment)) return null;
  const protocol = protocolOf(settings);
  if (protocol !== "http/json" && protocol !== "http/protobuf") {
    log.warn("spans are sent as http/json: the protocol of the variables is not supported");
  }
  const { JsonExporter, ProtobufExporter } = await import("./telemetry_library.ts");
  const exporter = protocol === "http/protobuf" ? new ProtobufExporter() : new JsonExporter();
  return await spansTo(exporter, settings);
}

/** Returns span export to this exporter, in batches. */
export async function spansTo(exporter: SpanExporter, settings: SpanSettings): Promise<Spans> {
  const {
    BasicTracerProvider,
    BatchSpanProcessor,
    createTraceState,
    detectResources,
    diag,
    DiagLogLevel,
    envDetector,
    millisToHrTime,
    parseTraceParent,
    resourceFromAttributes,
    ROOT_CONTEXT,
    SpanKind,
    SpanStatusCode,
    trace,
    TraceFlags,
  } = await import("./telemetry_library.ts");
  const { clock = Date.now, serviceName, log, provider: providerOf, turn } = settings;
  const named = resourceFromAttributes({
    "service.name": serviceName,
    "service.version": VERSION,
  });
  const watch = watched(exporter, log);
  const provider = new BasicTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(watch.exporter)],
    spanLimits: { attributeCountLimit: MAX_ATTRIBUTES },
  });
  diag.setLogger({ ...NO_LOGGER, warn: watch.warned }, {
    logLevel: DiagLogLevel.WARN,
    suppressOverrideMessage: true,
  });
  const tracer = provider.getTracer("switchyard", VERSION);
  const calls = new WeakMap<CallSpan, { readonly span: Span; readonly began: number }>();
  const attempts = new WeakMap<
    AttemptSpan,
    { readonly span: Span; readonly facts: AttemptFacts }
  >();

  function outside({ traceparent }: CallReport, headers: Pick<RequestHeaders, "get">): Context {
    const parent = parseTraceParent(traceparent ?? "");
    if (parent === null) return ROOT_CONTEXT;
    const state = headers.get("tracestate");
    return trace.setSpanContext(ROOT_CONTEXT, {
      ...parent,
      isRemote: true,
      ...state !== null && state.length <= MAX_TRACESTATE_CHARS &&
        { traceState: createTraceState(state) },
    });
  }

  function newCallSpan(span: Span, began: number): CallSpan {
    const { traceId, spanId } = span.spanContext();
    const call: CallSpan = {
      traceId,
      spanId,
      isExported: span.isRecording(),
      beginAttempt() {
        const attempt = startAttempt(span, clock());
        const { spanId, traceFlags } = attempt.spanContext();
        const flags = (traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0");
        const traceparent = `00-${traceId}-${spanId}-${flags}`;
        if (!attempt.isRecording()) return newSilentAttempt(traceparent);
        const facts = new AttemptFacts(traceparent, turn);
        attempts.set(facts, { span: attempt, facts });
        return facts;
      },
    };
    calls.set(call, { span, began });
    return call;
  }

  function startAttempt(parent: Span, startTime: number): Span {
    const options: SpanOptions = { kind: SpanKind.CLIENT, startTime };
    return tracer.startSpan("attempt", options, trace.setSpan(ROOT_CONTEXT, parent));
  }

  function begin(report: CallReport, headers: Pick<RequestHeaders, "get">): void {
    const began = clock();
    const links = report.handshake === null ? [] : [linkTo(report.handshake)];
    const options: SpanOptions = { kind: SpanKind.SERVER, startTime: began, links };
    const span = tracer.startSpan("call", options, outside(report, headers));
    report.span = newCallSpan(span, began);
  }

  function linkTo({ traceId, spanId }: SpanIds): Link {
    return { context: { traceId, spanId, traceFlags: TraceFlags.NONE } };
  }

  function exportSpans(report: Readonly<CallReport>): void {
    const call = report.span?.isExported === true ? calls.get(report.span) : undefined;
    if (call === undefined) return;
    const at = (ms: number): HrTime => millisToHrTime(call.began + ms);
    const { earlyHead } = report.ms;
    if (earlyHead !== null) call.span.addEvent("early_head", at(earlyHead));
    for (const one of report.attempts) {
      const begun = one.span === undefined ? undefined : attempts.get(one.span);
      const span = begun?.span ?? startAttempt(call.span, call.began + one.began);
      const { failure, ended } = decideEnding(report, one);
      span.updateName(attemptName(report, one));
      const facts = begun?.facts ?? null;
      facts?.end();
      const attributes = attemptAttributes(report, one, {
        failure,
        facts,
        provider: providerOf(one.provider),
      });
      span.setAttributes(boundedAttributes(attributes));
      end(span, failure !== null, at(ended));
    }
    call.span.updateName(requestName(report));
    call.span.setAttributes(boundedAttributes(requestAttributes(report)));
    end(call.span, isFailed(report), at(report.ms.total));
  }

  function end(span: Span, isError: boolean, time: HrTime): void {
    if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(time);
  }

  return { begin, sink: exportSpans, flush: () => within(FLUSH_TIMEOUT_MS, provider.shutdown()) };
}

function isEnabled(environment: SpanSettings["environment"]): boolean {
  const value = variablesOf(environment);
  if (value("OTEL_SDK_DISABLED").toLowerCase() === "true") return false;
  const exporters = value("OTEL_TRACES_EXPORTER") || "otlp";
  if (!exporters.split(",").some((word) => word.trim() === "otlp")) return false;
  return value("OTEL_EXPORTER_OTLP_ENDPOINT") !== "" ||
    value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") !== "";
}

/** Returns a function from the name of a variable to its value; empty if it is not set. */
function variablesOf(environment: SpanSettings["environment"]): (name: string) => string {
  return (name) => (environment[name] ?? "").trim();
}

/** Returns the protocol of the configuration, else that of the variables, else JSON. */
function protocolOf({ protocol, environment }: SpanSettings): string {
  if (protocol !== "auto") return protocol;
  const value = variablesOf(environment);
  return value("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") || value("OTEL_EXPORTER_OTLP_PROTOCOL") ||
    "http/json";
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

/** Messages of the packages, which may have addresses with credentials, are not shown. */
const NO_LOGGER: DiagLogger = { error() {}, warn() {}, info() {}, debug() {}, verbose() {} };

/** A warning of the packages that a response with status 200 does not accept the spans. */
const NOT_ACCEPTED =
  /could not deserialize response|parse trace export response|"rejectedSpans":"?[1-9]/;

/**
 * Returns an exporter that logs when the collector begins to fail and when it recovers. `warned`
 * takes the warnings of the packages: to the exporter every response with status 200 is a success,
 * and it warns right before it says so.
 */
function watched(exporter: SpanExporter, log: SpanSettings["log"]) {
  let isFailing = false;
  let isRefused = false;
  const watching: SpanExporter = {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const fails = result.error !== undefined || result.code !== 0 || isRefused;
        isRefused = false;
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
  return {
    exporter: watching,
    warned(...words: readonly unknown[]) {
      if (NOT_ACCEPTED.test(words.map(String).join(" "))) isRefused = true;
    },
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
