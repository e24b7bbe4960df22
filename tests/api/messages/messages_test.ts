import { assertEquals, assertMatch } from "../../support/assert.ts";
import { got } from "../../support/chat_call.ts";
import { messagesGateway } from "./gateway.ts";

const ONE = "[{name: main, targets: [{provider: a}]}]";

Deno.test("a whole message is returned in the form of the Messages API, with the gateway's headers", async () => {
  const { ask } = messagesGateway(ONE);
  const { status, headers, text } = await ask();
  const body = JSON.parse(text);
  assertEquals(status, 200);
  assertMatch(body.id, /^msg_[0-9a-f]{32}$/);
  assertEquals([body.type, body.role, body.content, body.stop_reason], [
    "message",
    "assistant",
    [{ type: "text", text: "Hi", citations: null }],
    "end_turn",
  ]);
  assertEquals(headers.get("x-gateway-provider"), "a");
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("x-gateway-lossy"), null);
});

Deno.test("each message has a new id", async () => {
  const { ask } = messagesGateway(ONE);
  const ids = [await ask(), await ask()].map(({ text }) => JSON.parse(text).id);
  assertEquals(new Set(ids).size, 2);
});

Deno.test("the query beta=true is tolerated and not sent to a translated target", async () => {
  const { ask, sent } = messagesGateway(ONE);
  assertEquals((await ask({}, {}, "?beta=true")).status, 200);
  assertEquals(sent.length, 1);
});

Deno.test("the client's protocol version, betas and session are not sent to a translated target", async () => {
  const { ask, sent } = messagesGateway(ONE);
  await ask({}, {
    "anthropic-beta": "effort-2025-11-24",
    "x-claude-code-session-id": "s",
    "x-app": "cli",
    "x-stainless-lang": "js",
    "x-api-key": "k",
  });
  const names = [...sent[0]?.headers.keys() ?? []];
  assertEquals(names.filter((name) => /anthropic|claude|x-app|stainless|api-key/.test(name)), []);
});

Deno.test("X-Gateway-Lossy names the fields that are carried in part, in the client's own paths", async () => {
  const { ask } = messagesGateway(ONE);
  const fields = {
    thinking: { type: "enabled", budget_tokens: 1024 },
    metadata: { user_id: "not a plain id" },
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", is_error: true }] },
    ],
  };
  const { headers } = await ask(fields);
  assertEquals(
    headers.get("x-gateway-lossy"),
    "thinking.budget_tokens, messages.2.content.0.is_error, metadata.user_id",
  );
});

Deno.test("X-Gateway-Lossy names an image of a tool result by the client's own path", async () => {
  const image = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "aQ==" },
  };
  const content = [{ type: "text", text: "see" }, image];
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content }] },
  ];
  for (const provider of ["a", "loc"]) {
    const { ask } = messagesGateway(`[{name: main, targets: [{provider: ${provider}}]}]`);
    const { headers } = await ask({ messages });
    assertEquals(headers.get("x-gateway-lossy"), "messages.2.content.0.content.1");
  }
});

Deno.test("X-Gateway-Lossy names the role that a folded system message loses, in the client's own path", async () => {
  const { ask, sent } = messagesGateway("[{name: main, targets: [{provider: lead}]}]");
  const messages = [{ role: "user", content: "Hi" }, { role: "system", content: "S" }];
  const { headers } = await ask({ system: "T", messages });
  assertEquals(headers.get("x-gateway-lossy"), "messages.1.role");
  assertEquals(sent[0]?.body.messages, [
    { role: "system", content: "T" },
    { role: "user", content: "Hi\n\n[system]\nS" },
  ]);
});

Deno.test("the response cache is bypassed for every target", async () => {
  const routes = "[{name: main, targets: [{provider: a}], fallback: [{provider: loc}]}]";
  for (const failing of [{}, { a: 500 }]) {
    const settings = "retry: {enabled: false}\ncaching: {enabled: true}";
    const { ask, sent } = messagesGateway(routes, failing, settings);
    const first = await ask();
    const second = await ask();
    assertEquals([first.status, second.status], [200, 200]);
    assertEquals(sent.length % 2 === 0 && sent.length >= 2, true);
    assertEquals(
      second.headers.get("x-gateway-cache-status"),
      first.headers.get("x-gateway-cache-status"),
    );
    assertEquals(second.headers.get("x-gateway-cache-status") === "HIT", false);
  }
});

Deno.test("a request with fields of the wrong type is refused before any target is chosen", async () => {
  const { ask, sent } = messagesGateway(ONE);
  const refusals = [
    [{ model: 1 }, "model: Input should be a valid string"],
    [{ messages: {} }, "messages: Input should be a valid list"],
    [{ messages: null }, "messages: Field required"],
    [{ stream: "yes" }, "stream: Input should be a valid boolean"],
  ] as const;
  for (const [fields, message] of refusals) {
    const { status, error } = await ask(fields);
    assertEquals([status, error.type, error.message], [400, "invalid_request_error", message]);
  }
  assertEquals(sent, []);
});

Deno.test("the report names endpoint, operation and stream of the call", async () => {
  const { ask, reports } = messagesGateway(ONE);
  await ask();
  const [report] = reports;
  assertEquals(report?.endpoint.path, "/v1/messages");
  assertEquals(report?.endpoint.api, "messages");
  assertEquals(report?.endpoint.operation, "chat");
  assertEquals(report?.endpoint.sharesAnswer, true);
  assertEquals(report?.stream, false);
});

Deno.test("the usage of the upstream is accounted, and returned without cached tokens in the input", async () => {
  const { ask, reports } = messagesGateway(ONE);
  const { usage } = JSON.parse((await ask()).text);
  assertEquals([usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens], [6, 4, 2]);
  const { input, cached, output } = reports[0]?.usage ?? {};
  assertEquals([input, cached, output], [10, 4, 2]);
});

Deno.test("a body may have 32 MiB, and not one byte more", async () => {
  const { app } = messagesGateway(ONE);
  const [before, behind] = ['{"max_tokens":9,"messages":[{"role":"user","content":"', '"}]}'];
  const bare = before.length + behind.length;
  const send = async (bytes: number) => {
    const body = before + "x".repeat(bytes - bare) + behind;
    const headers = { host: "localhost", "content-length": String(bytes) };
    const url = "http://localhost/v1/messages";
    return await got(await app(new Request(url, { method: "POST", headers, body })));
  };
  const most = 33_554_432;
  // Without a model: the request is read to its end, and then refused for that.
  assertEquals((await send(most)).error.message, "model: Name a model: the route leaves it open.");
  const { status, error } = await send(most + 1);
  assertEquals([status, error.type], [413, "request_too_large"]);
  assertEquals(error.message, "The request body is larger than 32 MiB; send less.");
});

Deno.test("a provider that states only the largest token limit gets the client the vendor's sentence", async () => {
  const { ask } = messagesGateway(ONE, { a: "The largest `max_tokens` is 8192." });
  for (const stream of [false, true]) {
    const { status, error } = await ask({ max_tokens: 32_000, stream });
    assertEquals([status, error.type], [400, "invalid_request_error"]);
    assertEquals(
      error.message,
      "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for this model",
    );
  }
});

const SESSIONS = [
  [{}, {}, null],
  [{ "x-claude-code-session-id": "own" }, {}, "own"],
  [{ "x-claude-code-session-id": "own", "x-gateway-sessionid": "named" }, {}, "named"],
  [{}, { metadata: { user_id: "user_1" } }, "user_1"],
  [{}, { metadata: { user_id: '{"device_id":"d","session_id":"s"}' } }, "s"],
  [{}, { metadata: { user_id: '{"device_id":"d"}' } }, '{"device_id":"d"}'],
  [{ "x-claude-code-session-id": "own" }, { metadata: { user_id: "user_1" } }, "own"],
] as const;

for (const [headers, fields, session] of SESSIONS) {
  Deno.test(`the session in the logs is ${session} for ${JSON.stringify({ ...headers, ...fields })}`, async () => {
    const { ask, reports } = messagesGateway(ONE);
    await ask(fields, headers);
    assertEquals(reports[0]?.session, session);
  });
}

Deno.test("a user ID of more than 256 characters is its digest in the logs, and one of more than 4,096 is none", async () => {
  const { ask, reports } = messagesGateway(ONE);
  for (const chars of [256, 257, 4_097]) {
    await ask({ metadata: { user_id: "u".repeat(chars) } });
  }
  const [own, digest, none] = reports.map(({ session }) => session);
  assertEquals([own, none], ["u".repeat(256), null]);
  assertMatch(String(digest), /^[0-9a-f]{64}$/);
});
