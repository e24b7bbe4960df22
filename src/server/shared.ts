import { headerWords } from "../core/header_words.ts";
import { type Member, numberOf, parseJson } from "../core/json.ts";
import type { StreamRecord } from "../core/reply.ts";
import { membersOf } from "../formats/edit.ts";
import { sseText } from "../formats/sse.ts";
import type { Call } from "../gateway/call.ts";
import { type CallReport, MOST_TOLD, type Shared } from "../observe/report.ts";

/** Headers of a caller that the dashboard may be told; no other ever is. */
const TOLD_HEADERS = [
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

/** Where the APIs of providers begin. */
const UPSTREAM_TYPES = [
  ["/chat/completions", "chat_completions"],
  ["/responses", "responses"],
  ["/conversations", "conversations"],
  ["/embeddings", "embeddings"],
  ["/v1/messages", "messages"],
  ["/api/chat", "chat"],
  ["/api/embed", "embeddings"],
] as const;

/** A longer request is not looked into once more for its sampling. */
const LONGEST_LOOK = 1024 * 1024;

/** What the dashboard is told of a call that is over, beside what everybody is. */
export function sharedOf(call: Call): Shared {
  const { report, generation, vault } = call;
  const provider = generation.providers.get(report.provider ?? "");
  const { enabled } = generation.config.circuit_breaker;
  return {
    headers: toldHeaders(call),
    upstreamRequestType: upstreamType(report.sent),
    targetIndex: targetIndexOf(call),
    breaker: provider === undefined
      ? null
      : enabled
      ? vault.breakers.state(provider.account)
      : "closed",
    baseUrl: provider === undefined ? null : bareUrl(provider.base),
    ...samplingOf(report.sent),
  };
}

/** Whether the dashboard is told this part of a call's content. */
export function isTold(call: Call, part: "share_prompts" | "share_responses"): boolean {
  const { data_sharing } = call.generation.config;
  return data_sharing.enabled && data_sharing[part];
}

/** The records as they are; their text is kept in the report until there is enough of it. */
export async function* keptRecords(
  records: AsyncIterable<readonly StreamRecord[]>,
  report: CallReport,
): AsyncGenerator<readonly StreamRecord[], void, void> {
  let text = "";
  for await (const group of records) {
    if (text.length <= MOST_TOLD) report.answer = text += sseText(group);
    yield group;
  }
}

function toldHeaders({ headers, generation }: Call): Shared["headers"] {
  // A client's key may be asked for in any header.
  const keyHeader = generation.config.security.api_key.header.toLowerCase();
  const told: Record<string, string> = {};
  for (const name of TOLD_HEADERS) {
    const value = headers.get(name);
    if (value !== null && value !== "" && name !== keyHeader) told[name] = headerWords(value);
  }
  return told;
}

function upstreamType(sent: CallReport["sent"]): string | null {
  return UPSTREAM_TYPES.find(([path]) => sent?.path.startsWith(path))?.[1] ?? null;
}

function targetIndexOf({ report, generation }: Call): number | null {
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

function samplingOf(sent: CallReport["sent"]): Pick<Shared, "temperature" | "topP" | "topK"> {
  const body = sent?.payload?.text() ?? "";
  const isLocal = sent?.path.startsWith("/api/") ?? false;
  const members = body.length > LONGEST_LOOK ? [] : settingsOf(body, isLocal);
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

/** Local runtimes have their settings one level down. */
function settingsOf(body: string, isLocal: boolean): readonly Member[] {
  const members = membersOf(body);
  if (!isLocal) return members;
  const options = members.findLast(({ key }) => key === "options");
  return options === undefined ? [] : membersOf(body, options.start);
}
