import { newCapture } from "../../src/remote/capture.ts";
import type { DashboardFields } from "../../src/remote/dashboard_fields.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { naming, nativeConfig, nativeGateway, responseOf } from "../support/native_gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { upstreamUrl } from "../../src/upstream/connect.ts";

const SECRET = "subscription-7f3a9c1e";
const QUERY = `api-version=2024-10-01-preview&key=${SECRET}`;

Deno.test("the query of the base URL is merged into the one of a call and wins over equal names", () => {
  const cases: readonly (readonly [query: string, path: string, expected: string])[] = [
    ["", "/a", "http://h/v1/a"],
    ["", "/a?b=c", "http://h/v1/a?b=c"],
    ["x=1", "/a", "http://h/v1/a?x=1"],
    ["x=1&flag", "/a?limit=2", "http://h/v1/a?x=1&flag&limit=2"],
    ["x=1", "/a?x=2&y=3&x=4", "http://h/v1/a?x=1&y=3"],
    ["a%2Db=1", "/a?a-b=2&%61-b=3&a+b=4", "http://h/v1/a?a%2Db=1&a+b=4"],
    ["x=a/b?c&&y=%zz", "/a?&z=1&", "http://h/v1/a?x=a/b?c&&y=%zz&z=1"],
  ];
  for (const [query, path, expected] of cases) {
    assertEquals(upstreamUrl({ base: "http://h/v1", query }, path), expected);
  }
});

/** The answer of an upstream of each type, and its list of models. */
function answerTo(url: string): Promise<Response> {
  const { pathname } = new URL(url);
  if (pathname.endsWith("/models")) return answers(200, { data: [{ id: "listed" }] });
  if (pathname.endsWith("/api/tags")) return answers(200, { models: [{ name: "listed" }] });
  if (pathname.endsWith("/v1/messages")) {
    const content = [{ type: "text", text: "Hi" }];
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content, usage };
    return answers(200, { ...message, stop_reason: "end_turn", stop_sequence: null });
  }
  if (pathname.endsWith("/api/chat")) {
    const message = { role: "assistant", content: "Hi" };
    return answers(200, { model: "m", message, done: true, done_reason: "stop" });
  }
  if (pathname.endsWith("/api/embed")) return answers(200, { model: "m", embeddings: [[1]] });
  if (pathname.endsWith("/embeddings")) {
    const data = [{ object: "embedding", index: 0, embedding: [1] }];
    return answers(200, { object: "list", data, model: "m" });
  }
  return answers(200, COMPLETION);
}

const TYPES = `
providers:
  c: {type: compat, base_url: "http://c/v1/?${QUERY}", models: {mode: fetch}}
  m: {type: messages, base_url: "http://m/v1?${QUERY}&limit=5", models: {mode: fetch}}
  l: {type: local, base_url: "http://l/api/?${QUERY}", models: {mode: fetch}}
routing:
  routes:
    - {name: c, match: {models: [c/*]}, targets: [{provider: c}]}
    - {name: m, match: {models: [m/*]}, targets: [{provider: m}]}
    - {name: l, match: {models: [l/*]}, targets: [{provider: l}]}
general: {api_key: k, backend_url: "http://127.0.0.1:1"}
data_sharing: {enabled: true, share_prompts: true, share_responses: true}
`;

Deno.test("every call of every type carries the query of its base URL, lists of models too", async () => {
  const asked: string[] = [];
  const { app } = testGateway(
    TYPES,
    scriptedWorld({
      fetch(url) {
        asked.push(url);
        return answerTo(url);
      },
    }),
  );
  for (const id of ["c", "m", "l"]) {
    const { status } = await got(await app(chatRequest({ body: { model: `${id}/x` } })));
    assertEquals(status, 200, id);
  }
  for (const id of ["c", "l"]) {
    const body = JSON.stringify({ model: `${id}/x`, input: "a" });
    const request = new Request("http://localhost/v1/embeddings", { method: "POST", body });
    assertEquals((await got(await app(request))).status, 200, id);
  }
  const models = await got(await app(new Request("http://localhost/v1/models")));
  for (const id of ["c", "m", "l"]) assert(models.text.includes(`${id}/listed`), models.text);
  assertEquals(asked, [
    `http://c/v1/chat/completions?${QUERY}`,
    `http://m/v1/messages?${QUERY}&limit=5`,
    `http://l/api/chat?${QUERY}`,
    `http://c/v1/embeddings?${QUERY}`,
    `http://l/api/embed?${QUERY}`,
    `http://c/v1/models?${QUERY}`,
    `http://m/v1/models?${QUERY}&limit=5`,
    `http://l/api/tags?${QUERY}`,
  ]);
});

Deno.test("native calls keep the client's own parameters along with the query of the base URL", async () => {
  const can = ["responses_lifecycle", "chat_completions_lifecycle"];
  const config = nativeConfig({ first: { can } })
    .replace('"http://first"', `"http://first?${QUERY}"`);
  const { get, post, requests, lastRequest } = nativeGateway(config, ({ path }) => ({
    body: path.includes("/chat/completions")
      ? { object: "list", data: [], first_id: null, last_id: null, has_more: false }
      : responseOf("resp_1"),
  }));
  await post("/responses", { model: "m", input: "Hi" });
  assertEquals(lastRequest(), `first POST /responses?${QUERY}`);
  await get("/responses/resp_1?include=a&api-version=1999");
  assertEquals(lastRequest(), `first GET /responses/resp_1?${QUERY}&include=a`);
  await get("/chat/completions?limit=2&key=none", naming("first"));
  assertEquals(lastRequest(), `first GET /chat/completions?${QUERY}&limit=2`);
  assertEquals(requests.length, 3);
});

Deno.test("no log line, report, error or header shows the query of a base URL", async () => {
  const echo = `no such version: ${QUERY}`;
  const shared: DashboardFields[] = [];
  const { app, log, reports } = testGateway(
    TYPES,
    scriptedWorld({
      fetch: () => answers(400, { error: { message: echo } }, { "x-echo": SECRET }),
    }),
    {
      newCapture: ({ id, generation, state }) =>
        newCapture(
          generation.config,
          (call) => void shared.push(call.fields()),
          id,
          state.admission,
        ),
    },
  );
  for (const id of ["c", "m", "l"]) {
    const { status, text, headers } = await got(
      await app(chatRequest({ body: { model: `${id}/x` } })),
    );
    assertEquals(status, 400);
    assert(text.includes("no such version"), text);
    for (const received of [text, JSON.stringify([...headers])]) {
      assert(!received.includes(SECRET) && !received.includes("2024-10-01"), received);
    }
  }
  assertEquals(shared.map(({ baseUrl }) => baseUrl), ["http://c/v1", "http://m", "http://l"]);
  const errors = JSON.stringify(reports.map(({ failure }) => failure));
  assert(!errors.includes(SECRET) && !errors.includes("2024-10-01"), errors);
  const shown = JSON.stringify([
    log,
    reports.map(({ failure: _echo, ...rest }) => rest),
    shared,
  ]);
  assert(!shown.includes(SECRET) && !shown.includes("api-version"), shown);
});
