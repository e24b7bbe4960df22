import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { answers, COMPLETION, type Got, got } from "../../support/chat_call.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

/** A request as an upstream received it. */
export interface SentRequest {
  readonly host: string;
  readonly headers: Headers;
  readonly body: JsonObject;
}

/** A gateway over scripted providers, for clients of the Messages API. */
export interface MessagesGateway extends TestGateway {
  readonly sent: readonly SentRequest[];
  /** Sends a request to `/v1/messages` and reads its response to the end. */
  ask(
    fields?: JsonObject,
    headers?: Readonly<Record<string, string>>,
    query?: string,
  ): Promise<Got>;
}

const PROVIDERS = `
providers:
  a: {type: compat, base_url: "http://a"}
  b: {type: compat, base_url: "http://b"}
  able: {type: compat, base_url: "http://able", capabilities: {reasoning_effort: true}}
  lead: {type: compat, base_url: "http://lead", system_messages: leading}
  loc: {type: local, base_url: "http://loc"}
`;

const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 2,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 4 },
};

const LOCAL = { model: "m", message: { role: "assistant", content: "Hi" }, done: true };

/**
 * Returns the gateway; `failing` are the statuses of hosts that fail, or the messages of those that
 * give 400.
 */
export function messagesGateway(
  routes: string,
  failing: Readonly<Record<string, number | string>> = {},
  settings = "retry: {enabled: false}",
): MessagesGateway {
  const sent: SentRequest[] = [];
  const world = scriptedWorld({
    async fetch(url, init) {
      const { hostname } = new URL(url);
      const body = parseJson(await new Response(init.body).text());
      sent.push({
        host: hostname,
        headers: new Headers(init.headers),
        body: isObject(body) ? body : {},
      });
      const failure = failing[hostname];
      if (typeof failure === "string") return answers(400, { error: { message: failure } });
      if (failure !== undefined) {
        return answers(failure, { error: { message: `${hostname} fails` } });
      }
      return answers(200, hostname === "loc" ? LOCAL : { ...COMPLETION, usage: USAGE });
    },
  });
  const gateway = testGateway(`${PROVIDERS}routing:\n  routes: ${routes}\n${settings}\n`, world);
  return {
    ...gateway,
    sent,
    async ask(fields = {}, headers = {}, query = "") {
      const body = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
      return await got(
        await gateway.app(
          new Request(`http://localhost/v1/messages${query}`, {
            method: "POST",
            headers: { host: "localhost", "anthropic-version": "2023-06-01", ...headers },
            body: JSON.stringify({ ...body, ...fields }),
          }),
        ),
      );
    },
  };
}
