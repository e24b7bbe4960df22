import type { TestGateway } from "../support/gateway.ts";

/** A JSON body for a chat request; the fields come on top of a model and one message. */
export function chatBody(fields: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }], ...fields });
}

/** Returns the options of a chat request. */
export function chatInit(
  fields: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
) {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: chatBody(fields),
  };
}

/** Calls a gateway in the process. */
export function callChat(
  { app }: TestGateway,
  fields: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return app(new Request("http://gateway/v1/chat/completions", chatInit(fields, headers)));
}

/** A configuration with one provider called `up`, no retries and no breaker. */
export function plainConfig(wire: string, baseUrl: string, settings = ""): string {
  return `
providers:
  up: {type: ${wire}, base_url: "${baseUrl}", api_key: sk-upstream-secret${settings}}
routing:
  routes: [{name: main, targets: [{provider: up}]}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;
}
