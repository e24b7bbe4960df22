import { compat } from "../../../src/wires/compat/compat.ts";
import { upstreamRequestHeaders } from "../../../src/upstream/headers.ts";
import { assertEquals } from "../../support/assert.ts";
import { provider } from "./encoded_request.ts";
import { senderOf } from "../../support/translated.ts";

/** Returns the upstream headers for a client that sends these headers. */
function headers(client: Record<string, string>, ...settings: readonly string[]) {
  const { "content-type": type, "accept-encoding": encoding, "user-agent": agent, ...others } =
    upstreamRequestHeaders(
      compat.headers(senderOf(provider(...settings)), new Headers(client)),
    );
  assertEquals([type, encoding], ["application/json", "identity"]);
  return agent === "switchyard" ? others : { ...others, "user-agent": agent };
}

Deno.test("a provider without credentials receives no credentials", () => {
  assertEquals(headers({}), {});
  assertEquals(headers({}, 'api_key: ""'), {});
});

Deno.test("the provider's key and organization are sent", () => {
  assertEquals(headers({}, "api_key: sk-1", "organization: org-1"), {
    authorization: "Bearer sk-1",
    "openai-organization": "org-1",
  });
});

Deno.test("only the idempotency key and the beta header are forwarded from the client", () => {
  const client = {
    authorization: "Bearer client",
    "x-api-key": "client",
    "api-key": "client",
    "openai-organization": "client",
    "openai-project": "client",
    "openai-beta": "client",
    cookie: "a=b",
    "x-forwarded-for": "1.2.3.4",
    "user-agent": "client",
    accept: "text/html",
    "accept-encoding": "br",
    "accept-language": "de",
    origin: "http://page",
    referer: "http://page",
    traceparent: "00-0-0-00",
    "messages-beta": "m",
    "x-gateway-provider": "p",
    "x-anything": "x",
    te: "trailers",
  };
  assertEquals(headers(client), {});
  assertEquals(headers({ ...client, "Idempotency-Key": "k", "Compat-Beta": "b" }), {
    "idempotency-key": "k",
    "compat-beta": "b",
    "openai-beta": "b",
  });
});

Deno.test("configured headers are sent, and credentials override them in any case", () => {
  const configured = 'headers: {X-Team: "a", Authorization: wrong, OpenAI-Organization: wrong, ' +
    "Content-Type: text/plain, User-Agent: mine}";
  assertEquals(headers({}, configured, "api_key: sk-1", "organization: org-1"), {
    "x-team": "a",
    authorization: "Bearer sk-1",
    "openai-organization": "org-1",
    "user-agent": "mine",
  });
});

Deno.test("a configured Authorization header is sent if there is no key", () => {
  assertEquals(headers({ authorization: "Bearer client" }, "headers: {Authorization: Basic x}"), {
    authorization: "Basic x",
  });
});
