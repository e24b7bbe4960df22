import { assert, assertEquals } from "../../../support/assert.ts";
import { type Calling, MESSAGE, relayed, REQUEST, STREAM, STREAMED, streaming } from "./relayed.ts";

/** The headers with which one messages provider is called. */
async function sentHeaders(calling: Calling, settings = "api_key: sk-up"): Promise<Headers> {
  const { call, sent } = relayed({ up: `type: messages, ${settings}` }, {
    up: [{ body: MESSAGE }],
  });
  assertEquals((await call(REQUEST, calling)).status, 200);
  const [only] = sent;
  assert(only !== undefined);
  return only.headers;
}

Deno.test("the client's API version is sent on, else the provider's, else the first one", async () => {
  const client = { headers: { "anthropic-version": "2026-10-21" } };
  const cases = [
    [client, "api_key: k", "2026-10-21"],
    [client, "api_key: k, api_version: 2023-06-01", "2026-10-21"],
    [{}, "api_key: k, api_version: 2026-10-21", "2026-10-21"],
    [{}, "api_key: k", "2023-06-01"],
  ] as const;
  for (const [calling, settings, version] of cases) {
    assertEquals((await sentHeaders(calling, settings)).get("anthropic-version"), version);
  }
});

Deno.test("anthropic-beta is sent on unchanged, and Messages-Beta only in its absence", async () => {
  const beta = "claude-code-20250219,later-2027-01-01, effort-2025-11-24";
  const cases = [
    [{ "anthropic-beta": beta }, beta],
    [{ "anthropic-beta": beta, "messages-beta": "other" }, beta],
    [{ "messages-beta": "a, b" }, "a, b"],
    [{}, null],
  ] as const;
  for (const [headers, expected] of cases) {
    const calling: Calling = { headers: { ...headers } };
    assertEquals((await sentHeaders(calling)).get("anthropic-beta"), expected);
  }
});

Deno.test("no other header of the client is sent, and no credential of it", async () => {
  const headers = {
    "authorization": "Bearer sk-client",
    "x-api-key": "sk-client",
    "anthropic-version": "2023-06-01",
    "x-claude-code-session-id": "s",
    "x-claude-code-agent-id": "a",
    "x-app": "cli",
    "x-stainless-lang": "js",
    "x-stainless-retry-count": "1",
    "anthropic-dangerous-direct-browser-access": "true",
    "anthropic-workspace-id": "w",
    "anthropic-user-profile-id": "u",
    "user-agent": "claude-cli/2.1.330 (external, cli)",
    "accept": "text/html",
    "cookie": "c=1",
  };
  const sent = await sentHeaders({ headers });
  assertEquals(Object.fromEntries(sent), {
    "accept": "application/json",
    "accept-encoding": "identity",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
    "user-agent": "switchyard",
    "x-api-key": "sk-up",
  });
});

Deno.test("one kind of credential is sent: the key, else the configured Authorization", async () => {
  const both = await sentHeaders({}, 'api_key: sk-up, headers: {Authorization: "Bearer b"}');
  assertEquals([both.get("x-api-key"), both.get("authorization")], ["sk-up", null]);
  const token = await sentHeaders({}, 'headers: {Authorization: "Bearer b"}');
  assertEquals([token.get("x-api-key"), token.get("authorization")], [null, "Bearer b"]);
});

Deno.test("a stream is requested as a stream", async () => {
  const { call, sent } = relayed(
    { up: "type: messages, api_key: k" },
    { up: [streaming(...STREAM)] },
  );
  assertEquals((await call(STREAMED)).text, STREAM.join(""));
  assertEquals(sent[0]?.headers.get("accept"), "text/event-stream");
});

Deno.test("of the query only beta=true is sent, along with the query of the base URL", async () => {
  const cases = [
    ["", "http://up.test/v1/messages"],
    ["?beta=true", "http://up.test/v1/messages?beta=true"],
    ["?x=1&beta=true&y=2", "http://up.test/v1/messages?beta=true"],
    ["?beta=false", "http://up.test/v1/messages"],
  ] as const;
  for (const [query, url] of cases) {
    const { call, sent } = relayed(
      { up: "type: messages, api_key: k" },
      { up: [{ body: MESSAGE }] },
    );
    await call(REQUEST, { path: `/v1/messages${query}` });
    assertEquals(sent[0]?.url, url);
  }
});

const QUERIES = [
  ["http://up.test/base/?tenant=7", "http://up.test/base/v1/messages?tenant=7&beta=true"],
  ["http://up.test/v1?beta=false", "http://up.test/v1/messages?beta=false"],
] as const;

Deno.test("the query of the base URL is merged, and its own parameters win", async () => {
  for (const [base, url] of QUERIES) {
    const { call, sent } = relayed(
      { up: "type: messages" },
      { up: [{ body: MESSAGE }] },
      "",
      "",
      { up: base },
    );
    await call(REQUEST, { path: "/v1/messages?beta=true" });
    assertEquals(sent[0]?.url, url);
  }
});

const THEIRS = {
  "request-id": "req_theirs",
  "retry-after": "7",
  "x-should-retry": "true",
  "anthropic-ratelimit-requests-remaining": "9",
  "anthropic-ratelimit-input-tokens-limit": "8",
  "anthropic-later": "kept",
};
const HIDDEN = {
  "anthropic-organization-id": "org",
  "anthropic-workspace-id": "ws",
  "anthropic-ratelimit-unified-status": "allowed",
  "anthropic-ratelimit-unified-5h-reset": "1",
  "via": "1.1 proxy",
  "cf-ray": "abc",
  "server": "cloudflare",
  "set-cookie": "a=b",
  "x-echo": "sk-up-secret",
};

Deno.test("the upstream's headers are sent to the client, without those about the gateway's account", async () => {
  const headers = { ...THEIRS, ...HIDDEN };
  const error = '{"type":"error","error":{"type":"rate_limit_error","message":"Slow."}}';
  const cases = [
    [REQUEST, { headers, body: MESSAGE }, 200],
    [REQUEST, { headers, body: error, status: 429 }, 429],
    [
      STREAMED,
      { ...streaming(...STREAM), headers: { ...headers, "content-type": "text/event-stream" } },
      200,
    ],
  ] as const;
  for (const [body, says, status] of cases) {
    const { call } = relayed({ up: "type: messages, api_key: sk-up-secret" }, { up: [says] });
    const received = await call(body);
    assertEquals(received.status, status);
    for (const [name, value] of Object.entries(THEIRS)) {
      assertEquals(received.headers.get(name), value, name);
    }
    for (const name of Object.keys(HIDDEN)) assertEquals(received.headers.get(name), null, name);
    assert(received.headers.get("x-request-id") !== "req_theirs");
  }
});

Deno.test("a chat client does not receive the headers about the gateway's account either", async () => {
  const says = { headers: HIDDEN, body: '{"type":"error","error":{}}', status: 400 };
  const { call } = relayed({ up: "type: messages, api_key: sk-up-secret" }, { up: [says] });
  const { headers } = await call(
    '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}]}',
    { path: "/v1/chat/completions" },
  );
  for (const name of Object.keys(HIDDEN)) assertEquals(headers.get(name), null, name);
});

Deno.test("a chat request keeps the provider's API version and sends no beta of a Messages client", async () => {
  const { call, sent } = relayed({ up: "type: messages, api_key: k" }, { up: [{ body: MESSAGE }] });
  await call(
    '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}]}',
    {
      path: "/v1/chat/completions",
      headers: { "anthropic-version": "2026-10-21", "anthropic-beta": "a" },
    },
  );
  assertEquals(sent[0]?.headers.get("anthropic-version"), "2023-06-01");
  assertEquals(sent[0]?.headers.get("anthropic-beta"), null);
});

Deno.test("a count is sent with the same headers and the same cut, and without sampling defaults", async () => {
  const { call, sent } = relayed(
    { up: "type: messages, api_key: k, temperature: 0.5" },
    { up: [{ headers: { ...THEIRS, ...HIDDEN }, body: '{"input_tokens":3}' }] },
  );
  const own = '{"type":"thinking","thinking":"","signature":"switchyard1.x.y"}';
  const body = (blocks: string) =>
    `{"model":"m","messages":[{"role":"assistant","content":[${blocks}{"type":"text","text":"A"}]}] }`;
  const received = await call(body(`${own}, `), {
    path: "/v1/messages/count_tokens?beta=true",
    headers: { "anthropic-version": "2026-10-21", "anthropic-beta": "a,b", "x-app": "cli" },
  });
  assertEquals([received.status, received.text], [200, '{"input_tokens":3}']);
  assertEquals(received.headers.get("x-gateway-lossy"), "messages.0.content.0");
  assertEquals(received.headers.get("request-id"), "req_theirs");
  assertEquals(received.headers.get("anthropic-organization-id"), null);
  assertEquals(sent[0]?.url, "http://up.test/v1/messages/count_tokens?beta=true");
  assertEquals(sent[0]?.body, body(""));
  assertEquals(sent[0]?.headers.get("anthropic-version"), "2026-10-21");
  assertEquals(sent[0]?.headers.get("anthropic-beta"), "a,b");
  assertEquals(sent[0]?.headers.get("x-app"), null);
});
