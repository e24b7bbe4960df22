import { shortAnswer } from "../../support/growth/spoken.ts";
import { nativeGateway, type Scripted } from "../../support/native_gateway.ts";

/** The protocols of the providers. */
export const KINDS = ["compat", "responses", "messages", "local"] as const;

/** One of the protocols of the providers. */
export type Kind = (typeof KINDS)[number];

/** Capabilities of the provider, of which each type declares what it has. */
const CAPABILITIES: Readonly<Record<Kind, string>> = {
  compat: "{reasoning_effort: true}",
  responses: "{responses_lifecycle: true, background_responses: true, reasoning_effort: true}",
  messages: "{reasoning_effort: true}",
  local: "{reasoning_effort: true}",
};

/** Returns the short answer of a provider of this protocol. */
export function answerOf(kind: Kind, isStream: boolean): Scripted {
  const { body } = shortAnswer(kind === "responses" ? "native" : kind, isStream);
  return isStream ? { body, headers: { "content-type": streamType(kind) } } : { body };
}

function streamType(kind: Kind): string {
  return kind === "local" ? "application/x-ndjson" : "text/event-stream";
}

/** Serves the named model `coder` with this member, over a provider of one protocol. */
export function namedGateway(kind: Kind, member: string, more = "", settings = "") {
  const type = kind === "responses" ? "compat" : kind;
  const api = kind === "responses" ? ", upstream_request_type: responses" : "";
  return nativeGateway(
    `
providers: {up: {type: ${type}, base_url: "http://up", api_key: k, capabilities: ${
      CAPABILITIES[kind]
    }${settings}}}
models:
  coder:
    targets: [{provider: up, model: served${api}}]
    ${member}
routing: {routes: [{name: main, targets: [{provider: up${api}}]}]}
retry: {enabled: false}
${more}`,
    ({ json, method }) => method === "GET" ? { body: "{}" } : answerOf(kind, json.stream === true),
  );
}

/** A file with `coder` over a provider of type compat with these capabilities. */
export function namedFile(
  capabilities: string,
  member: string,
  api = ", upstream_request_type: responses",
): string {
  return `
providers: {up: {type: compat, base_url: "http://up", api_key: k, capabilities: ${capabilities}}}
models:
  coder:
    targets: [{provider: up, model: served${api}}]
    ${member}
routing: {routes: [{name: main, targets: [{provider: up${api}}]}]}
retry: {enabled: false}
`;
}

/** Serves such a file, with upstreams that respond by this script. */
export function namedOver(
  capabilities: string,
  member: string,
  script: Parameters<typeof nativeGateway>[1],
  api?: string,
) {
  return nativeGateway(namedFile(capabilities, member, api), script);
}
