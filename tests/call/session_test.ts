import type { JsonObject } from "../../src/core/json/json.ts";
import { sessionKey, sessionOf } from "../../src/call/session.ts";
import { compile } from "../../src/gateway/compile.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";

const UUID = "0b9f9f3c-8d6e-4c55-a1f5-6a8d5f0b2c11";

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly api?: "messages" | "responses" | "chat_completions";
  readonly body?: JsonObject;
  readonly root?: string;
  readonly sessions?: string;
}

function sessionIn({ headers = {}, sessions = "agents", ...parts }: Asked) {
  const config = oneProvider("http://up").replace("routing:", `routing:\n  sessions: ${sessions}`);
  const generation = compile(parsedConfig(config), 1);
  const found = sessionOf({ headers: new Headers(headers), generation }, parts);
  return found === null ? null : [found.from, found.name];
}

/** Sources of a session, the first one first: all of them together, and then one less each time. */
const IN_ORDER: readonly (readonly [expected: string, asked: Asked])[] = [
  ["header", { headers: { "X-Gateway-SessionID": "1" } }],
  ["claude-code", { headers: { "X-Claude-Code-Session-Id": "2" } }],
  ["codex", { headers: { "session-id": "3" } }],
  ["pi", { headers: { session_id: "4" } }],
  ["opencode", { headers: { "x-session-id": "5" } }],
  ["opencode", { headers: { "x-session-affinity": "6" } }],
  ["prompt_cache_key", { body: { prompt_cache_key: "7" } }],
  ["conversation", { body: { conversation: "8" } }],
  ["previous_response_id", { root: "9" }],
];

Deno.test("the first of the names of a session counts, in the documented order", () => {
  for (const [at, [expected]] of IN_ORDER.entries()) {
    const given = IN_ORDER.slice(at).map(([, asked]) => asked);
    const root = given.at(-1)?.root ?? null;
    const found = sessionIn({
      api: "responses",
      headers: Object.assign({}, ...given.map(({ headers }) => headers)),
      body: Object.assign({}, ...given.map(({ body }) => body)),
      ...root !== null && { root },
    });
    assertEquals(found, [expected, String(at + 1)]);
  }
  assertEquals(sessionIn({}), null);
});

/** The first requests of two runs of real agents, with what names them (agents, November 2026). */
const AGENTS = [
  [
    "claude-code",
    { "x-claude-code-session-id": UUID, "x-claude-code-agent-id": "sub" },
    "messages",
    { metadata: { user_id: `{"device_id":"d","session_id":"${UUID}"}` } },
  ],
  [
    "codex",
    { "session-id": UUID, "thread-id": "other", "x-client-request-id": "other" },
    "responses",
    { prompt_cache_key: UUID, client_metadata: { a: "b" } },
  ],
  ["opencode", { "x-session-id": UUID, "x-session-affinity": UUID }, "chat_completions", {}],
  ["pi", { "session_id": UUID, "x-client-request-id": UUID }, "responses", {}],
] as const;

for (const [agent, headers, api, body] of AGENTS) {
  Deno.test(`the session of ${agent} is found by its header`, () => {
    assertEquals(sessionIn({ headers, api, body }), [agent, UUID]);
  });
}

Deno.test("headers that change from request to request, and names of users, are no session", () => {
  const headers = { "x-client-request-id": "a", "thread-id": "b", "x-codex-window-id": "c" };
  const body = { user: "u", safety_identifier: "s", metadata: { user_id: `x_session_${UUID}` } };
  for (const api of ["chat_completions", "responses"] as const) {
    assertEquals(sessionIn({ headers, body, api }), null);
  }
  assertEquals(sessionIn({ api: "messages", body: { metadata: { user_id: "user_1" } } }), null);
  assertEquals(sessionIn({ api: "chat_completions", body: { conversation: "c" } }), null);
});

Deno.test("the session in a user ID is the member of its JSON, or the end of the older form", () => {
  const user = (user_id: string) => sessionIn({ api: "messages", body: { metadata: { user_id } } });
  assertEquals(user(`{"device_id":"d","session_id":"${UUID}"}`), ["user_id", UUID]);
  assertEquals(user(`user_0f_account__session_${UUID}`), ["user_id", UUID]);
  for (const none of ['{"device_id":"d"}', '{"session_id":7}', "{", `{${" ".repeat(5_000)}}`]) {
    assertEquals(user(none), null);
  }
});

Deno.test("a conversation is named by its ID or by an object with it", () => {
  for (const conversation of ["conv_1", { id: "conv_1" }]) {
    const found = sessionIn({ api: "responses", body: { conversation } });
    assertEquals(found, ["conversation", "conv_1"]);
  }
});

Deno.test("a name is trimmed, blank names are none, and one of more than 256 characters is its digest", () => {
  const named = (prompt_cache_key: JsonObject[string]) =>
    sessionIn({ body: { prompt_cache_key } })?.[1] ?? null;
  assertEquals(named("  a b\t"), "a b");
  for (const blank of ["", " \n", null, 7, {}]) assertEquals(named(blank), null);
  assertEquals(sessionIn({ headers: { "session-id": " ", session_id: "s" } }), ["pi", "s"]);
  assertEquals(named(` ${"a".repeat(256)} `), "a".repeat(256));
  const [one, other] = ["b", "c"].map((end) => named("a".repeat(256) + end));
  assertMatch(String(one), /^[0-9a-f]{64}$/);
  assert(one !== other);
  assertEquals(sessionIn({ headers: { "session-id": "\xc3\xa9" } }), ["codex", "\u00e9"]);
});

Deno.test("with sessions: header only X-Gateway-SessionID names a session", () => {
  const others = { headers: { "session-id": "a" }, body: { prompt_cache_key: "b" }, root: "c" };
  assertEquals(sessionIn({ ...others, sessions: "header" }), null);
  const headers = { ...others.headers, "x-gateway-sessionid": "own" };
  assertEquals(sessionIn({ ...others, headers, sessions: "header" }), ["header", "own"]);
});

Deno.test("equal names of two client keys are two sessions, and none is the name of a client key", () => {
  const session = { name: "s", from: "header" } as const;
  const keys = [
    sessionKey("a", session),
    sessionKey("b", session),
    sessionKey(null, session),
    sessionKey("a", { ...session, name: "t" }),
  ];
  assertEquals(new Set([...keys, "a", "b", "s"]).size, 7);
  assertEquals(sessionKey("a", null), null);
});
