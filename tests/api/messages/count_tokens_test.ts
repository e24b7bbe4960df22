import { utf8Bytes } from "../../../src/formats/utf8.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { streamOf } from "../../support/pieces.ts";
import { scriptedWorld } from "../../support/world.ts";

/** Request that an upstream received. */
interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** Responses of an upstream by the host of the request. */
type Says = Readonly<Record<string, readonly [status: number, body: string]>>;

const PROVIDERS = {
  native: '{type: messages, base_url: "http://native.test", api_key: sk-n}',
  other: '{type: messages, base_url: "http://other.test", api_key: sk-o}',
  able:
    '{type: compat, base_url: "http://able.test", api_key: sk-a, capabilities: {response_input_tokens: true}}',
  unable: '{type: compat, base_url: "http://unable.test", api_key: sk-u}',
  local: '{type: local, base_url: "http://local.test"}',
} as const;

const RESPONSES = "upstream_request_type: responses";

function gatewayOf(targets: string, says: Says, more = "") {
  const sent: Sent[] = [];
  const world = scriptedWorld({
    async fetch(url, init) {
      const body = await new Response(init.body ?? null).text();
      sent.push({ url, headers: new Headers(init.headers), body });
      const [status, answer] = says[new URL(url).hostname.replace(".test", "")] ?? [500, "{}"];
      return new Response(streamOf([utf8Bytes(answer)]), {
        status,
        headers: { "content-type": "application/json", "request-id": "req_theirs" },
      });
    },
  });
  const providers = Object.entries(PROVIDERS).map(([id, text]) => `  ${id}: ${text}`).join("\n");
  const gateway = testGateway(
    `providers:\n${providers}\nrouting:\n  routes: [{name: main, targets: [${targets}]${more}}]\n`,
    world,
  );
  return {
    sent,
    reports: gateway.reports,
    async count(body: string, query = "", headers: Record<string, string> = {}) {
      const response = await gateway.app(
        new Request(`http://localhost/v1/messages/count_tokens${query}`, {
          method: "POST",
          headers,
          body,
        }),
      );
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

const BODY = '{"model":"native/m","messages":[{"role":"user","content":"H\\u0069"}],  "n":1.0}';
const COUNTED = '{ "input_tokens":  12, "context_management":{"original_input_tokens":1.0} }';

Deno.test("a count goes to a messages provider with the bare model, and its response comes back byte for byte", async () => {
  const { sent, count, reports } = gatewayOf("{provider: native}", { native: [200, COUNTED] });
  const answer = await count(BODY);
  assertEquals([answer.status, answer.text], [200, COUNTED]);
  assertEquals(answer.headers.get("request-id"), "req_theirs");
  const [only] = sent;
  assertEquals(only?.url, "http://native.test/v1/messages/count_tokens");
  assertEquals(only?.body, BODY.replace("native/m", "m"));
  assertEquals(only?.headers.get("x-api-key"), "sk-n");
  assertEquals(reports[0]?.endpoint.path, "/v1/messages/count_tokens");
});

Deno.test("a count has the session of Claude Code in the logs", async () => {
  const { count, reports } = gatewayOf("{provider: native}", { native: [200, COUNTED] });
  await count(BODY, "", { "x-claude-code-session-id": "s" });
  assertEquals(reports[0]?.session, "s");
});

Deno.test("beta=true is sent on, and no other query", async () => {
  const { sent, count } = gatewayOf("{provider: native}", { native: [200, COUNTED] });
  assertEquals((await count(BODY, "?beta=true&x=1")).status, 200);
  assertEquals(sent[0]?.url, "http://native.test/v1/messages/count_tokens?beta=true");
});

Deno.test("an error of a messages provider comes back byte for byte, and nothing is repeated", async () => {
  for (const status of [400, 429, 500, 529]) {
    const body = '{"type":"error", "error":{"type":"overloaded_error","message":"No."}}';
    const { sent, count } = gatewayOf("{provider: native}", { native: [status, body] });
    const answer = await count(BODY);
    assertEquals([answer.status, answer.text, sent.length], [status, body, 1]);
    assertEquals(answer.headers.get("request-id"), "req_theirs");
  }
});

Deno.test("a response without a count is a failed attempt", async () => {
  for (const body of ["{}", "[]", '{"input_tokens":"1"}', '{"input_tokens":1.5}']) {
    const { count } = gatewayOf("{provider: native}", { native: [200, body] });
    const { status, text } = await count(BODY);
    assertEquals([status, JSON.parse(text).error.details.error_code], [
      502,
      "invalid_upstream_response",
    ]);
  }
});

Deno.test("only a fallback of the same protocol counts in place of a target that failed", async () => {
  const fallback =
    `, fallback: [{provider: able, model: m, ${RESPONSES}}, {provider: other, model: m}]`;
  const says: Says = {
    native: [503, '{"type":"error","error":{"type":"api_error","message":"No."}}'],
    other: [200, COUNTED],
    able: [200, '{"object":"response.input_tokens","input_tokens":7}'],
  };
  const { sent, count } = gatewayOf("{provider: native}", says, fallback);
  const answer = await count('{"model":"m","messages":[]}');
  assertEquals([answer.status, answer.text], [200, COUNTED]);
  assertEquals(sent.map(({ url }) => new URL(url).hostname), ["native.test", "other.test"]);
});

Deno.test("a provider with the Responses API counts the translated request", async () => {
  const { sent, count } = gatewayOf(`{provider: able, ${RESPONSES}}`, {
    able: [200, '{"object":"response.input_tokens","input_tokens":7,"x":1}'],
  });
  const answer = await count(JSON.stringify({
    model: "able/m",
    system: "Be brief.",
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ name: "add", input_schema: { type: "object" } }],
    tool_choice: { type: "any" },
  }));
  assertEquals([answer.status, answer.text], [200, '{"input_tokens":7}']);
  assertEquals(answer.headers.get("request-id"), answer.headers.get("x-gateway-request-id"));
  assertEquals(sent[0]?.url, "http://able.test/responses/input_tokens");
  const body = JSON.parse(sent[0]?.body ?? "");
  assertEquals(Object.keys(body).toSorted(), ["input", "model", "tool_choice", "tools"]);
  assertEquals([body.model, body.tool_choice], ["m", "required"]);
  assert(sent[0]?.body.includes("Be brief."));
});

Deno.test("a translated count refuses what is no field of a count, and what the target cannot carry", async () => {
  const { count } = gatewayOf(`{provider: able, ${RESPONSES}}`, {});
  const messages = [{ role: "user", content: "Hi" }];
  const cases = [
    [{ max_tokens: 9 }, "max_tokens: Extra inputs are not permitted"],
    [{ stream: true }, "stream: Extra inputs are not permitted"],
    [{ mcp_servers: [{}] }, "mcp_servers: Extra inputs are not permitted"],
    [{ output_config: { effort: "low" } }, "This model does not support the effort parameter."],
  ] as const;
  for (const [more, message] of cases) {
    const { status, text } = await count(JSON.stringify({ model: "m", messages, ...more }));
    assertEquals([status, JSON.parse(text).error.message], [400, message]);
  }
});

Deno.test("a Responses provider that answers without a count has failed", async () => {
  for (const body of ['{"input_tokens":7}', '{"object":"response.input_tokens"}', "[]"]) {
    const { count } = gatewayOf(`{provider: able, ${RESPONSES}}`, { able: [200, body] });
    const { status } = await count('{"model":"m","messages":[{"role":"user","content":"Hi"}]}');
    assertEquals(status, 502);
  }
});

Deno.test("elsewhere a count is refused with 501, is not repeated by clients, and reaches no provider", async () => {
  const targets = [
    "{provider: unable}",
    `{provider: unable, ${RESPONSES}}`,
    "{provider: able}",
    "{provider: local}",
  ];
  for (const target of targets) {
    const { sent, count } = gatewayOf(target, {}, ", fallback: [{provider: native, model: m}]");
    const { status, headers, text } = await count('{"model":"m","messages":[]}', "?beta=true");
    assertEquals([status, headers.get("x-should-retry"), sent.length], [501, "false", 0]);
    const { error } = JSON.parse(text);
    assertEquals([error.type, error.details.error_code], [
      "not_supported",
      "token_counting_unsupported",
    ]);
    assert(error.message.startsWith("This provider cannot count tokens"), error.message);
  }
});

Deno.test("a target that cannot count is skipped where another one can", async () => {
  const { sent, count } = gatewayOf("{provider: local}, {provider: native}", {
    native: [200, COUNTED],
  });
  assertEquals((await count('{"model":"m","messages":[]}')).status, 200);
  assertEquals(sent.length, 1);
});

Deno.test("routes match a count by the path and the request type of messages", async () => {
  const { count } = gatewayOf(
    "{provider: native}",
    { native: [200, COUNTED] },
    ", match: {path: /v1/messages}",
  );
  assertEquals((await count(BODY)).status, 200);
  const typed = gatewayOf(
    "{provider: native}",
    { native: [200, COUNTED] },
    ", match: {headers: {x-gateway-request-type: messages}}",
  );
  assertEquals((await typed.count(BODY)).status, 200);
});

Deno.test("a request to count needs a list of messages", async () => {
  const { count } = gatewayOf("{provider: native}", {});
  const { status, text } = await count('{"model":"m"}');
  assertEquals([status, JSON.parse(text).error.message], [400, "messages: Field required"]);
});
