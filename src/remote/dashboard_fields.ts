import { type Member, numberOf, parseJson } from "../core/json/json.ts";
import { parseMembers } from "../formats/edit.ts";
import { breakerState } from "../routing/accounts.ts";
import type { Call, Capture } from "../call/call.ts";
import { isPrivateHeader } from "../access/presented_key.ts";
import { decodeHeaderText } from "../core/header_fields.ts";

/** A request to an upstream, as it was sent. */
export type SentRequest = Parameters<Capture["upstreamRequest"]>[0];

/** Fields of a finished call that only the dashboard receives. */
export interface DashboardFields {
  /** The headers of the client that may be shared, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** API in which the provider was called; null if no request was sent. */
  readonly upstreamRequestType: string | null;
  /** Index of the target in its route, from 0; fallbacks follow the targets. */
  readonly targetIndex: number | null;
  /** State of the provider's circuit breaker when the call is over. */
  readonly breaker: "closed" | "half-open" | "open" | null;
  /** Base URL of the provider, without credentials and query. */
  readonly baseUrl: string | null;
  /** Value in the upstream request, set by the client or the configuration; null if absent. */
  readonly temperature: number | null;
  readonly topP: number | null;
  /** Value for providers of type local; null for any other type. */
  readonly topK: number | null;
}

/** Request headers that the dashboard may receive; no other header is exported. */
export const SHARED_HEADERS: readonly string[] = [
  "x-environment",
  "x-gateway-request-type",
  "x-gateway-provider",
  "x-gateway-model",
  "x-gateway-route",
  "x-gateway-complexity",
  "x-gateway-complexity-score",
  "x-gateway-skill",
  "x-team",
  "x-app",
  "x-gateway-user",
  "x-gateway-sessionid",
  "x-gateway-client-lat",
  "x-gateway-client-lon",
];

/** Path prefix of each upstream API. */
const UPSTREAM_TYPES = [
  ["/chat/completions", "chat_completions"],
  ["/responses", "responses"],
  ["/conversations", "conversations"],
  ["/embeddings", "embeddings"],
  ["/v1/messages", "messages"],
  ["/api/chat", "chat"],
  ["/api/embed", "embeddings"],
] as const;

/** Maximum length of an upstream request whose sampling settings are parsed. */
const MAX_PARSED_CHARS = 1024 * 1024;

/** Returns the dashboard's fields of a call that is over; `sent` is its last upstream request. */
export function dashboardFields(call: Call, sent: SentRequest | null): DashboardFields {
  const { report, generation, state } = call;
  const provider = generation.providers.get(report.provider ?? "");
  const { enabled } = generation.config.circuit_breaker;
  return {
    headers: sharedHeaders(call),
    upstreamRequestType: upstreamType(sent),
    targetIndex: findTargetIndex(call),
    breaker: provider === undefined ? null : enabled ? breakerState({ state }, provider) : "closed",
    baseUrl: provider === undefined ? null : bareUrl(provider.base),
    ...parseSampling(sent),
  };
}

function sharedHeaders(call: Call): DashboardFields["headers"] {
  const shared: Record<string, string> = {};
  for (const name of SHARED_HEADERS) {
    const value = call.headers.get(name);
    // The configuration may name any header for client keys and for their end users.
    if (
      value !== null && value !== "" && !isPrivateHeader(name, call.generation, call.client.key)
    ) {
      shared[name] = decodeHeaderText(value);
    }
  }
  return shared;
}

function upstreamType(sent: SentRequest | null): string | null {
  return UPSTREAM_TYPES.find(([path]) => sent?.path.startsWith(path))?.[1] ?? null;
}

function findTargetIndex({ report, generation }: Call): number | null {
  const route = generation.routes.find(({ name }) => name === report.route);
  if (route === undefined || report.provider === null) return null;
  const from = report.fallbacks > 0 ? route.targets.length : 0;
  const index = [...route.targets, ...route.fallback].findIndex(({ provider, model }, at) =>
    at >= from && provider.id === report.provider && (model === null || model === report.model)
  );
  return index < 0 ? null : index;
}

function bareUrl(base: string): string {
  const url = URL.parse(base);
  return url === null ? "" : `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}`;
}

function parseSampling(
  sent: SentRequest | null,
): Pick<DashboardFields, "temperature" | "topP" | "topK"> {
  const body = sent?.payload?.text() ?? "";
  const isLocal = sent?.path.startsWith("/api/") ?? false;
  const members = body.length > MAX_PARSED_CHARS ? [] : parseSettings(body, isLocal);
  const figure = (name: string) => {
    const member = members.findLast(({ key }) => key === name);
    return member === undefined ? null : numberOf(parseJson(body.slice(member.start, member.end)));
  };
  return {
    temperature: figure("temperature"),
    topP: figure("top_p"),
    topK: isLocal ? figure("top_k") : null,
  };
}

/** Returns the members with sampling settings; local runtimes have them in `options`. */
function parseSettings(body: string, isLocal: boolean): readonly Member[] {
  const members = parseMembers(body);
  if (!isLocal) return members;
  const options = members.findLast(({ key }) => key === "options");
  return options === undefined ? [] : parseMembers(body, options.start);
}
