import type { Link, SpanContext } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { VERSION } from "../../core/build.ts";
import type { RequestHeaders } from "../../core/header_fields.ts";
import type { World } from "../../core/world.ts";
import type { Log } from "../log.ts";
import type { Attempt, CallReport, Sink } from "../report.ts";
import { AttemptFacts, type NextTurn } from "./attempt_facts.ts";
import { boundedAttributes, boundedText, boundedValue } from "./bounds.ts";
import { OpenCall } from "./open_call.ts";
import { batchSettings } from "./batches.ts";
import { certificates, collectorSettings, newClient, newCollector } from "./collector.ts";
import { newJsonExporter, newProtobufExporter, type SpanExporter } from "./exporter.ts";
import { addressOf, isDisabled, variablesOf } from "./address.ts";
import { ignoredVariables, isHttpUrl } from "./ignored_variables.ts";
import { newSampling } from "./sampling.ts";
import type { ProviderFacts } from "./span_providers.ts";
import { newSpanQueue } from "./span_queue.ts";
import type { SpanIds } from "../../core/call_span.ts";
import {
  attemptAttributes,
  attemptName,
  isFailed,
  requestAttributes,
  requestName,
  type SpanAttributes,
} from "./span_attributes.ts";

/** Longest `tracestate` of a client that is kept (W3C Trace Context, section 3.3.1.3). */
const MAX_TRACESTATE_CHARS = 512;

/**
 * Pattern of one `traceparent` of any version: later ones may be longer than the 55 characters of
 * the first one, and a comma is between two of them.
 */
const ONE_TRACEPARENT = /^[^,]{55,128}$/;

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
  readonly provider: ProviderFacts;
  /** Returns the turn for the next piece of a large text. */
  readonly turn: NextTurn;
  /** Runs a task later, as in `World`. */
  readonly after: World["after"];
}

/**
 * Returns span export over OTLP/HTTP, with one span for each call and one for each attempt. Null if
 * the standard `OTEL_*` variables name no collector or disable it; then no package is loaded.
 */
export async function newSpans(settings: SpanSettings): Promise<Spans | null> {
  const { environment, log } = settings;
  const variable = variablesOf(environment);
  if (isDisabled(variable)) return null;
  const ignored = ignoredVariables(environment);
  if (ignored !== null) log.warn(ignored);
  const address = addressOf(variable);
  if (address === "") return null;
  if (!isHttpUrl(address)) {
    log.warn("no spans are sent: the address of the collector does not begin with http or https");
    return null;
  }
  const protocol = protocolOf(settings);
  if (protocol !== "http/json" && protocol !== "http/protobuf") {
    log.warn("spans are sent as http/json: the protocol of the variables is not supported");
  }
  const library = await import("./telemetry_library.ts");
  const client = newClient(await certificates(variable, log));
  if (client === null) {
    log.warn("no spans are sent: the certificates of the variables are not valid");
    return null;
  }
  const sent = collectorSettings(variable, library.parseKeyPairsIntoRecord);
  const exporter = protocol === "http/protobuf"
    ? newProtobufExporter(
      newCollector("application/x-protobuf", sent, client),
      library.ProtobufTraceSerializer,
    )
    : newJsonExporter(newCollector("application/json", sent, client), library.JsonTraceSerializer);
  return await spansTo(exporter, settings);
}

/** Returns span export to this exporter, in batches. */
export async function spansTo(exporter: SpanExporter, settings: SpanSettings): Promise<Spans> {
  const {
    createTraceState,
    detectResources,
    envDetector,
    millisToHrTime,
    parseTraceParent,
    resourceFromAttributes,
    SpanKind,
    SpanStatusCode,
    TraceFlags,
    TraceIdRatioBasedSampler,
  } = await import("./telemetry_library.ts");
  const { clock = Date.now, serviceName, provider: providerOf, turn, environment } = settings;
  const named = resourceFromAttributes({
    "service.name": serviceName,
    "service.version": VERSION,
  });
  const resource = named.merge(detectResources({ detectors: [envDetector] }));
  const instrumentationScope = { name: "switchyard", version: VERSION };
  const variable = variablesOf(environment);
  const spanQueue = newSpanQueue(exporter, batchSettings(variable), settings);
  const isSampled = newSampling(variable, TraceIdRatioBasedSampler);
  const openCall = { newSpanId: () => randomId(8), turn };

  function outside(
    { traceparent }: CallReport,
    headers: Pick<RequestHeaders, "get">,
  ): SpanContext | undefined {
    const isOne = traceparent !== null && ONE_TRACEPARENT.test(traceparent);
    const parent = isOne ? parseTraceParent(traceparent) : null;
    if (parent === null) return undefined;
    const state = headers.get("tracestate");
    const isKept = state !== null && state.length <= MAX_TRACESTATE_CHARS;
    return {
      traceId: boundedText(parent.traceId),
      spanId: boundedText(parent.spanId),
      traceFlags: parent.traceFlags,
      isRemote: true,
      ...isKept && { traceState: createTraceState(state) },
    };
  }

  function begin(report: CallReport, headers: Pick<RequestHeaders, "get">): void {
    const parent = outside(report, headers);
    const traceId = parent?.traceId ?? randomId(16);
    report.span = new OpenCall({
      traceId,
      spanId: randomId(8),
      traceFlags: isSampled(traceId, parent) ? TraceFlags.SAMPLED : TraceFlags.NONE,
      ...parent?.traceState !== undefined && { traceState: parent.traceState },
    }, { parent, began: clock(), ...openCall });
  }

  function linkTo({ traceId, spanId }: SpanIds): Link {
    return { context: { traceId, spanId, traceFlags: TraceFlags.NONE } };
  }

  function exportSpans(report: Readonly<CallReport>): void {
    const call = report.span;
    if (!(call instanceof OpenCall && call.isExported)) return;
    const { context, parent, began } = call;
    for (const one of report.attempts) {
      const facts = one.span instanceof AttemptFacts ? one.span : null;
      facts?.end();
      const { failure, ended } = decideEnding(report, one);
      const attributes = attemptAttributes(report, one, {
        failure,
        facts,
        provider: providerOf(one.provider, facts?.called),
      });
      queue({ ...context, spanId: facts?.spanId ?? randomId(8) }, {
        kind: SpanKind.CLIENT,
        name: attemptName(report, one),
        parentSpanContext: context,
        attributes,
        isError: failure !== null,
        began: began + one.began,
        ended: began + ended,
      });
    }
    const { earlyHead, total } = report.ms;
    queue(context, {
      kind: SpanKind.SERVER,
      name: requestName(report),
      parentSpanContext: parent,
      attributes: requestAttributes(report),
      isError: isFailed(report),
      began,
      ended: began + total,
      ...earlyHead !== null && {
        events: [{ name: "early_head", time: millisToHrTime(began + earlyHead) }],
      },
      ...report.handshake !== null && { links: [linkTo(report.handshake)] },
    });
  }

  /**
   * Queues a span as a plain object. A tracer of the packages would check and copy every attribute
   * and read the clock for each span, which takes longer than to encode it.
   */
  function queue(context: SpanContext, span: EndedSpan): void {
    const { kind, name, parentSpanContext, isError, began, ended, events, links } = span;
    const readable: QueuedSpan = {
      name: boundedValue(kind === SpanKind.CLIENT ? "client" : "server", name),
      kind,
      spanContext: () => context,
      startTime: millisToHrTime(began),
      endTime: millisToHrTime(Math.max(began, ended)),
      status: { code: isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
      attributes: boundedAttributes(span.attributes),
      events: events ?? [],
      links: links ?? [],
      duration: millisToHrTime(Math.max(0, ended - began)),
      ended: true,
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
    if (parentSpanContext !== undefined) readable.parentSpanContext = parentSpanContext;
    spanQueue.add(readable);
  }

  return { begin, sink: exportSpans, flush: spanQueue.flush };
}

/** A span as the packages encode it. */
type QueuedSpan = ReadableSpan & { parentSpanContext?: SpanContext };

/** Facts of a span at its end; times are milliseconds since 1970. */
interface EndedSpan {
  readonly kind: ReadableSpan["kind"];
  readonly name: string;
  readonly parentSpanContext: SpanContext | undefined;
  readonly attributes: SpanAttributes;
  readonly isError: boolean;
  readonly began: number;
  readonly ended: number;
  readonly events?: ReadableSpan["events"];
  readonly links?: Link[];
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

/** Random bytes for the next IDs: to draw those of one ID takes longer than to write its digits. */
const pool = { bytes: new Uint8Array(4096), used: 4096 };

/** Returns a random ID of a trace or span as hexadecimal digits; zeros alone never come up. */
function randomId(bytes: number): string {
  if (pool.used + bytes > pool.bytes.length) {
    crypto.getRandomValues(pool.bytes);
    pool.used = 0;
  }
  pool.used += bytes;
  return pool.bytes.subarray(pool.used - bytes, pool.used).toHex();
}
