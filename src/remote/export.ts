import { roundedMs } from "../observe/access_log.ts";
import { type Failure, isRefusal } from "../core/failure/failure.ts";
import { type CallReport, retriesOf } from "../observe/report.ts";
import { stripRequestEcho } from "./strip_request_echo.ts";
import { type CapturedCall, MAX_SHARED_CHARS } from "./capture.ts";
import type { DashboardFields } from "./dashboard_fields.ts";
import { textBeginning } from "../core/text_beginning.ts";

/** One event in a request to the dashboard. */
export interface ExportEvent {
  readonly type: "metric" | "request_log";
  readonly data: Readonly<Record<string, unknown>>;
}

/** Settings of the event content: shared bodies and the position of the gateway. */
export interface ExportSettings {
  readonly share_prompts: boolean;
  readonly share_responses: boolean;
  readonly gateway_lat?: number | undefined;
  readonly gateway_lon?: number | undefined;
}

/** Maximum length of a name, which clients choose; longer ones are cut. */
const MAX_NAME_CHARS = 256;

/** Maximum length of a provider's error message; longer ones are cut. */
const MAX_MESSAGE_CHARS = 1000;

/**
 * Returns the events of a call that ended at `ended`, in milliseconds since 1970. The first
 * contains figures only, without text of a provider or of the bodies. The second exists if bodies
 * are shared: it contains the bodies and the provider's error. Endpoints without a client API have
 * no events.
 */
export function newEvents(
  call: CapturedCall,
  settings: ExportSettings,
  ended: number,
): ExportEvent[] {
  const { report } = call;
  const { api: clientType } = report.endpoint;
  if (clientType === null) return [];
  const shared = call.fields();
  const both = commonFields(report, shared, clientType, ended);
  const tags = buildTags(report, shared, clientType, settings);
  const metric: ExportEvent = {
    type: "metric",
    data: { ...both, ...buildFigures(report, shared), tags },
  };
  if (!sharesContent(settings)) return [metric];
  const log = {
    ...both,
    ...upstreamError(report.failure),
    ...(settings.share_prompts ? content("prompt", call.prompt) : {}),
    ...(settings.share_responses ? content("response", sharedResponse(call, settings)) : {}),
  };
  return [metric, { type: "request_log", data: log }];
}

/** Returns the number of events that `newEvents` returns, without building them. */
export function eventCount({ report }: CapturedCall, settings: ExportSettings): number {
  if (report.endpoint.api === null) return 0;
  return sharesContent(settings) ? 2 : 1;
}

function sharesContent({ share_prompts, share_responses }: ExportSettings): boolean {
  return share_prompts || share_responses;
}

function commonFields(
  report: Readonly<CallReport>,
  { headers, upstreamRequestType }: DashboardFields,
  clientType: string,
  ended: number,
) {
  const user = headers["x-gateway-user"];
  return {
    request_id: report.id,
    timestamp: new Date(ended - report.ms.total).toISOString(),
    client_request_type: clientType,
    upstream_request_type: upstreamRequestType,
    provider: report.provider,
    model: shortened(report.model),
    route: report.route,
    status: report.status,
    error_class: report.failure?.kind ?? null,
    user_id: shortened(user ?? null),
    session_id: shortened(report.session),
  };
}

function buildFigures(report: Readonly<CallReport>, shared: DashboardFields) {
  const { usage, ms } = report;
  return {
    duration_ms: roundedMs(ms.total),
    time_to_first_token_ms: roundedMs(ms.firstToken),
    time_to_last_token_ms: ms.firstToken === null ? null : roundedMs(ms.total),
    input_tokens: usage?.input ?? null,
    output_tokens: usage?.output ?? null,
    total_tokens: usage?.total ?? null,
    reasoning_tokens: usage?.reasoning ?? null,
    prompt_cache_read_tokens: usage?.cached ?? null,
    prompt_cache_write_tokens: usage?.cacheWrite ?? null,
    estimated_cost_usd: report.cost,
    cache_hit: report.cache === "HIT",
    fallback: report.fallbacks > 0,
    retry: retriesOf(report.attempts).length > 0,
    target_index: shared.targetIndex,
    circuit_breaker_state: shared.breaker,
  };
}

/**
 * Returns the tags of a call. Shared headers become tags: `X-Team` is `team`, `X-Gateway-Skill` is
 * `gateway_skill`.
 */
function buildTags(
  report: Readonly<CallReport>,
  shared: DashboardFields,
  clientType: string,
  { gateway_lat, gateway_lon }: ExportSettings,
) {
  const callers = Object.entries(shared.headers).map(([name, value]) =>
    [name.replace(/^x-/, "").replaceAll("-", "_"), shortened(value)] as const
  );
  const tags: Readonly<Record<string, unknown>> = {
    client_request_type: clientType,
    upstream_request_type: shared.upstreamRequestType,
    gateway_lat,
    gateway_lon,
    provider: report.provider,
    model: shortened(report.model),
    stream: report.stream,
    upstream_base_url: shared.baseUrl,
    temperature: shared.temperature,
    top_p: shared.topP,
    top_k: shared.topK,
  };
  const known = Object.entries(tags).filter(([, value]) => (value ?? null) !== null);
  return Object.fromEntries([...callers, ...known]);
}

/** Returns the code and message of an upstream error, whose keys are already redacted. */
function upstreamError(failure: Failure | null) {
  if (failure === null || isRefusal(failure) || failure.upstream === null) return {};
  const { code, message } = failure.upstream.error;
  return {
    upstream_error_code: typeof code === "string"
      ? shortened(code)
      : typeof code === "number"
      ? code
      : null,
    upstream_error_message: typeof message === "string"
      ? textBeginning(message, MAX_MESSAGE_CHARS)
      : null,
  };
}

/** Returns the shared response body; without echoes of the request if prompts are not shared. */
function sharedResponse(call: CapturedCall, { share_prompts }: ExportSettings) {
  return share_prompts ? call.response : stripRequestEcho(call);
}

/** Returns the members of a body; a body beyond the limit is cut and marked with `_cut`. */
function content(name: "prompt" | "response", body: string | Uint8Array | null) {
  if (body === null) return {};
  const isCut = body.length > MAX_SHARED_CHARS;
  return {
    [name]: typeof body === "string" ? textBeginning(body, MAX_SHARED_CHARS) : beginning(body),
    ...(isCut ? { [`${name}_cut`]: true } : {}),
  };
}

/** Returns the beginning of a body as text, without an incomplete last character. */
function beginning(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, MAX_SHARED_CHARS), { stream: true });
}

function shortened(text: string | null): string | null {
  return text === null ? null : textBeginning(text, MAX_NAME_CHARS);
}
