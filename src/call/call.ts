import type { Cancellation } from "../core/cancellation.ts";
import { decodeHeaderText, type HeaderFields, type RequestHeaders } from "../core/header_fields.ts";
import type { Failed } from "../core/failure/result.ts";
import type { Session } from "../core/session.ts";
import type { Reply } from "../core/stream/reply.ts";
import type { World } from "../core/world.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { CallReport } from "../observe/report.ts";
import type { Caller } from "../store/bindings.ts";
import type { GatewayState } from "../store/gateway_state.ts";
import type { LoopTurns } from "../traffic/loop_turns.ts";
import type { CallPrivacy } from "../privacy/types.ts";
import type { UpstreamRequest } from "../wires/wire.ts";
import type { Generation } from "./generation.ts";
import type { Plan } from "./plan.ts";
import type { Meter } from "../access/meter.ts";
import type { PresentedKey } from "../access/permissions.ts";
import type { CallQuotas } from "../access/quotas.ts";
import type { Steering } from "../access/steering.ts";

/** Parsed `X-Gateway-*` request headers. */
export interface Controls {
  /** Requested provider, model and route; null when the header is absent or blank. */
  readonly provider: string | null;
  readonly model: string | null;
  readonly route: string | null;
  readonly noRetry: boolean;
  readonly noFallback: boolean;
  readonly noCache: boolean;
  /** True if nothing of the call may be recorded. */
  readonly noRecord: boolean;
}

/** Client name of calls from the dashboard. */
export const REMOTE_CONTROL = "remote control";

/** Captures the content of one call, for data sharing or for a record. */
export interface Capture {
  /**
   * Captures the text of the client's request; the last call counts, so that a text with replaced
   * values follows the received one. `url` is that of an HTTP request.
   */
  request(text: string, url?: string): void;
  /** Captures a body that was refused because it is no JSON object; absent if that has no use. */
  unparsed?(text: string, url: string): void;
  /** Captures a request to an upstream; the last call counts. */
  upstreamRequest(request: Pick<UpstreamRequest, "path" | "payload">): void;
  /** Returns the same reply; its content is captured on its way to the client. */
  reply<Kind extends Reply>(reply: Kind): Kind;
  /** Shares the content of a finished call. */
  end(call: Call): void;
}

/** Returns the capture of which both have the content; null for none. */
export function joinCaptures(one: Capture | null, other: Capture | null): Capture | null {
  if (one === null || other === null) return one ?? other;
  const both = [one, other];
  return {
    request: (text, url) => both.forEach((capture) => capture.request(text, url)),
    unparsed: (text, url) => both.forEach((capture) => capture.unparsed?.(text, url)),
    upstreamRequest: (request) => both.forEach((capture) => capture.upstreamRequest(request)),
    reply: (reply) => other.reply(one.reply(reply)),
    end(call) {
      try {
        one.end(call);
      } finally {
        other.end(call);
      }
    },
  };
}

/** Client key and session of a call, and what the call counts against. */
export interface CallClient {
  key: PresentedKey;
  /** The conversation that the call belongs to; null if the client names none. */
  session: Session | null;
  /** Client that the configuration does not name, which counts while it has limits. */
  subject: CountedSubject | null;
  /** Limits of the key and its groups that have admitted the call; null if they have none. */
  quotas: CallQuotas | null;
  /** Meter of what the call uses; null if the client has no key. */
  meter: Meter | null;
  /** Members of the request that may choose another model at the provider; null for none. */
  steering: Steering | null;
  /** Privacy rules of the call and the tokens of its values; null if no policy applies. */
  privacy: CallPrivacy | null;
}

/** A client that the configuration does not name, among those whose limits are counted. */
export interface CountedSubject {
  readonly pool: string;
  readonly caller: string;
  /** Maximum number of counted clients of the pool. */
  readonly max: number;
  /** Time in milliseconds until a used up rate of requests is full again; 0 without a rate. */
  readonly rateMs: number;
}

/** Returns the client of a call that is not admitted yet. */
export function newCallClient(): CallClient {
  return {
    key: null,
    session: null,
    subject: null,
    quotas: null,
    meter: null,
    steering: null,
    privacy: null,
  };
}

/**
 * Puts the model that a client requests into the report, and for the admin page into its trace,
 * where the header wins over the body.
 */
export function recordModel(
  { controls, report }: Pick<Call, "controls" | "report">,
  bodyModel: unknown,
): void {
  if (typeof bodyModel === "string" && bodyModel !== "") report.requestedModel = bodyModel;
  const { trace } = report;
  if (trace === null) return;
  const model = controls.model ?? bodyModel;
  if (typeof model === "string" && model !== "") trace.requestedModel = model;
}

/** One client request with its state and dependencies. */
export interface Call {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly controls: Controls;
  /** Cancelled when the client disconnects or the gateway shuts down. */
  readonly cancellation: Cancellation;
  /** Ends the connection of the client at once; undefined if its socket is not accessible. */
  readonly abort: (() => void) | undefined;
  readonly generation: Generation;
  readonly state: GatewayState;
  /** Returns the client by which its work is counted: its key once admitted, or its network. */
  readonly clientOf: () => string;
  /** Turns of the event loop for the work of the call, as its client has them. */
  readonly turns: LoopTurns;
  readonly world: World;
  readonly metrics: Metrics;
  readonly report: CallReport;
  /** Set by admission, before any lookup for the call. */
  readonly caller: { -readonly [Member in keyof Caller]: Caller[Member] };
  /** Client key, limits and use of the call, set by admission with the caller. */
  readonly client: CallClient;
  /** Headers of every upstream request of the call, besides the headers of its wire. */
  readonly upstreamHeaders: HeaderFields;
  /** Null while data sharing is off and the call has no record. */
  capture: Capture | null;
  /**
   * Receives the plan of a call that is not sent, and returns its end; null for calls of clients.
   */
  readonly planned: ((plan: Plan) => Failed) | null;
  /** Bytes of its body that have arrived, if it is read as a stream. */
  bodyBytes: number;
  /** True once all of its body has arrived, if it is read as a stream. */
  bodyHasEnded: boolean;
  /** Response headers that are set before the endpoint runs, by lower-case name. */
  readonly responseHeaders: Record<string, string>;
}

/** Parses the control headers of a request. */
export function parseControls(headers: RequestHeaders): Controls {
  return {
    provider: named(headers, "x-gateway-provider"),
    model: named(headers, "x-gateway-model"),
    route: named(headers, "x-gateway-route"),
    noRetry: isTrue(headers, "x-gateway-no-retry"),
    noFallback: isTrue(headers, "x-gateway-no-fallback"),
    noCache: isTrue(headers, "x-gateway-no-cache"),
    noRecord: isTrue(headers, "x-gateway-no-record"),
  };
}

function named(headers: RequestHeaders, name: string): string | null {
  const value = headers.get(name);
  return value === null || value === "" ? null : decodeHeaderText(value);
}

/**
 * True if the header, or one of its repeated values, is true: these headers only disable features.
 */
function isTrue(headers: RequestHeaders, name: string): boolean {
  const value = headers.get(name);
  return value !== null && value.toLowerCase().split(",").some((word) => word.trim() === "true");
}
