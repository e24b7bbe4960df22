import { upstreamCause } from "../core/failure/failure.ts";
import { messageOf } from "../core/failure/openai_error.ts";
import type { RuleCount } from "../core/privacy_counts.ts";
import { type Fields, type Log, MAX_FIELD_CHARS } from "./log.ts";
import { type Attempt, type CallReport, endOf, retriesOf, type Sink } from "./report.ts";
import { textBeginning } from "../core/text_beginning.ts";

/**
 * Returns a sink that logs one line per finished call, and further lines for failures hidden from
 * the client.
 */
export function accessLog(log: Log): Sink {
  return (report) => {
    const fields = accessFields(report);
    const { keyLabels } = report;
    log.info("request", keyLabels === null ? fields : { ...fields, ...keyLabels });
    for (const { provider, outcome, cause } of report.attempts) {
      if (cause === null || cause === "first_content") continue;
      log.debug("connection failed", { request_id: report.id, provider, outcome, cause });
    }
    const { failure, tokenRefusal } = report;
    if (tokenRefusal !== null) {
      log.debug("token refused", {
        request_id: report.id,
        issuer: tokenRefusal.issuer,
        reason: tokenRefusal.kind,
      });
    }
    if (report.brokeOff && failure !== null && failure.kind !== "client_cancelled") {
      log.warn("stream broke off", {
        request_id: report.id,
        provider: report.provider,
        reason: waitingText(messageOf(failure)),
      });
    }
    if (report.clockAheadMs !== null) {
      log.warn("the clock of the machine is wrong: requests are signed by that of the provider", {
        request_id: report.id,
        provider: report.provider,
        ahead_s: Math.round(report.clockAheadMs / 1000),
      });
    }
    if (report.bug !== null) {
      log.error("internal error", { request_id: report.id, at: report.bug });
    }
  };
}

/** Content of an access line: never a prompt, a response, a key or a query. */
export function accessFields(report: Readonly<CallReport>) {
  const { ms, attempts, usage } = report;
  return {
    request_id: report.id,
    method: report.method,
    path: waitingText(report.path),
    status: report.status,
    client: report.client,
    issuer: report.issuer,
    template: report.template,
    end_user: report.endUser,
    client_secret: report.keySecret,
    session: report.session,
    session_from: report.sessionFrom,
    route: report.route,
    provider: report.provider,
    provider_key: attempts.at(-1)?.key ?? null,
    model: report.model === null ? null : waitingText(report.model),
    stream: report.stream,
    duration_ms: roundedMs(ms.total),
    ttft_ms: roundedMs(ms.firstToken),
    early_head_ms: roundedMs(ms.earlyHead),
    held: report.held,
    recorded: report.recorded,
    queued_ms: report.queuedMs > 0 ? roundedMs(report.queuedMs) : null,
    tokens_in: usage?.input,
    tokens_out: usage?.output,
    tokens_estimated: report.estimated ? true : null,
    cost_unknown: report.isCostUnknown ? true : null,
    custom_calls: report.customCalls > 0 ? report.customCalls : null,
    cache: report.cache,
    cache_breakpoints: report.cacheBreakpoints > 0 ? report.cacheBreakpoints : null,
    redacted: matchesText(report.privacy, "request"),
    redacted_out: matchesText(report.privacy, "response"),
    unread: report.privacy?.unread || null,
    restored: report.privacy?.restored || null,
    unknown_tokens: report.privacy?.unknown || null,
    retries: retriesOf(attempts).length,
    fallback: report.fallbacks > 0,
    tries: attempts.map((one) => tryText(one)).join(",") || null,
    upstream_cause: upstreamCause(report.failure),
    end: endOf(report),
    trace_id: report.span?.isExported === true ? report.span.traceId : null,
    span_id: report.span?.isExported === true ? report.span.spanId : null,
  } satisfies Fields;
}

/**
 * Returns a text that a client has chosen for a line that waits for its reader: no more than what
 * the line shows, and that it is cut.
 */
function waitingText(text: string): string {
  return textBeginning(text, MAX_FIELD_CHARS + 1);
}

/** Returns the matches of privacy rules as `mail:2,cards:1`; null for none. */
function matchesText(
  privacy: CallReport["privacy"],
  wanted: RuleCount["phase"],
): string | null {
  if (privacy === null) return null;
  const matches = privacy.matches.filter(({ phase }) => phase === wanted);
  return matches.map(({ rule, count }) => `${rule}:${count}`).join(",") || null;
}

/** Returns an attempt as `provider:outcome`, in a pool as `provider(key):outcome`. */
function tryText({ provider, key, outcome }: Attempt): string {
  return `${provider}${key === null ? "" : `(${key})`}:${outcome}`;
}

/** Name of a field of the access line. */
export type AccessField = keyof ReturnType<typeof accessFields>;

/** Returns a time with one decimal; null for none. */
export function roundedMs(ms: number): number;
export function roundedMs(ms: number | null): number | null;
export function roundedMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
