import { finishedView } from "../../src/admin/call_views.ts";
import { clientApis } from "../../src/api/registry.ts";
import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import type { GatewayOptions } from "../../src/gateway/gateway.ts";
import { type CapturedCall, newCapture } from "../../src/remote/capture.ts";
import { collectedSpans } from "../observe/spans/traced.ts";
import { privacyConfig, TEST_SECRET } from "../privacy/rules.ts";
import { twoKeys } from "../support/client_keys.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { create } from "../support/socket_client.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { utf8Bytes } from "../../src/formats/utf8.ts";
import { streamOf } from "../support/pieces.ts";
import { saying, wordStreams } from "../support/word_stream.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";

const MAIL = "find: [email], action: replace";
const UP = oneProvider("http://up.test");
const RULES = privacyConfig([MAIL]);

function answered(content: string): JsonObject {
  const message = { role: "assistant", content };
  return {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function jsonResponse(value: JsonObject, status = 200): Response {
  return new Response(streamOf([utf8Bytes(JSON.stringify(value))]), { status });
}

/** A gateway over an upstream that says yes, and what the upstream has received. */
function serving(config: string, options?: GatewayOptions) {
  const sent: string[] = [];
  const fetch: Fetch = async (_url, { body }) => {
    sent.push(await new Response(body ?? "").text());
    return jsonResponse(answered("yes"));
  };
  const served = testGateway(config, scriptedWorld({ fetch }), options);
  return {
    ...served,
    sent,
    async call(path: string, body: unknown, headers: Record<string, string> = {}, method = "POST") {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const request = new Request(`http://gateway.test${path}`, {
        method,
        headers,
        ...method === "POST" && { body: text },
      });
      return await served.app(request);
    },
  };
}

const CHAT = "/v1/chat/completions";

function chat(...texts: readonly string[]): JsonObject {
  const roles = ["user", "assistant"];
  return {
    model: "m",
    messages: texts.map((content, at) => ({ role: roles[at % 2] ?? "", content })),
  };
}

async function receivedOf(response: Response): Promise<string[]> {
  return [await response.text(), ...response.headers.keys()];
}

Deno.test("without a policy a request, its answer and its log line are those of a gateway without rules", async () => {
  const body = '{ "model":"m", "messages":[{"role":"user","content":"a\\u0040x.com"}] }';
  const [plain, unselected] = [serving(UP), serving(UP + RULES.replace("default: p", ""))];
  const received = await receivedOf(await plain.call(CHAT, body));
  assertEquals(await receivedOf(await unselected.call(CHAT, body)), received);
  assertEquals(unselected.sent, plain.sent);
  const linesOf = (log: readonly string[]) => log.map((line) => line.replace(/"time":"[^"]*"/, ""));
  assertEquals(linesOf(unselected.log), linesOf(plain.log));
  assertEquals(unselected.reports[0]?.privacy, null);
});

Deno.test("with a policy and no match the upstream receives the client's bytes", async () => {
  const { call, sent } = serving(UP + RULES);
  const body =
    '{ "model":"m", "x": 1.0,"messages":[{"role":"user","content":"\\u0041 no value"}] }';
  const response = await call(CHAT, body);
  assertEquals([sent[0], response.headers.get("x-gateway-redacted")], [body, null]);
});

Deno.test("header, log line and metrics count by rule, and have neither value nor token", async () => {
  const rules = privacyConfig([
    MAIL,
    "words: [blue], action: mask",
    "words: [red], action: monitor",
  ]);
  const { call, sent, log, gateway } = serving(UP + rules);
  const response = await call(CHAT, chat("a@x.com b@x.com blue red"));
  assertEquals(response.headers.get("x-gateway-redacted"), "r0=2, r1=1");
  const line = log.map(parseJson).filter(isObject)[0];
  assertEquals(line?.redacted, "r0:2,r1:1,r2:1");
  const metrics = await gateway.metrics.scrape();
  assertStringIncludes(
    metrics,
    'gateway_privacy_matches_total{rule="r0",phase="request",action="replace"} 2',
  );
  assertStringIncludes(metrics, "gateway_privacy_scan_seconds_count 1");
  const [token = ""] = /qz\w+email/.exec(sent[0] ?? "") ?? [];
  for (const text of [...log, metrics, ...response.headers.values()]) {
    assert(!text.includes("@x.com") && !text.includes(token.slice(0, 18)));
  }
});

Deno.test("no log line, metric, span, header, page or message of a refusal has a value or a token, however a call ends", async () => {
  const rules = privacyConfig([
    MAIL,
    "words: [kingfisher], action: refuse",
    "words: [stranger], phase: response, action: mask",
    "words: [enemy], phase: response, action: refuse",
  ]);
  const sent: string[] = [];
  const fetch: Fetch = async (_url, { body }) => {
    const text = await new Response(body ?? "").text();
    sent.push(text);
    const [token = ""] = /qz\w{16}email/.exec(text) ?? [];
    const answerText = `${token} stranger ${text.includes("enemies") ? "enemy" : ""}`;
    return text.includes("fail")
      ? jsonResponse({ error: { message: `no ${answerText}`, param: token } }, 400)
      : jsonResponse(answered(answerText));
  };
  const { app, log, reports, gateway } = testGateway(UP + rules, scriptedWorld({ fetch }));
  const bodies = [
    chat("I am a@x.com"),
    chat("I am a@x.com, fail"),
    chat("I am a@x.com, enemies"),
    chat("I am a@x.com, a kingfisher"),
    { ...chat("I am a@x.com"), model: "ask-a@x.com" },
    { ...chat("I am a@x.com"), tools: [{ type: "function", function: { name: "a@x.com" } }] },
    { ...chat("I am a@x.com"), metadata: { "a@x.com": "a@x.com" }, user: "a@x.com" },
    { ...chat("I am a@x.com"), response_format: { type: "a@x.com" }, "a@x.com": 1 },
  ];
  const seen: string[] = [];
  for (const [at, body] of bodies.entries()) {
    const request = new Request(`http://gateway.test${CHAT}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const response = await app(request);
    const text = await response.text();
    seen.push(JSON.stringify([...response.headers]));
    assertEquals(response.status, at === 0 ? 200 : 400, text);
    // The error of a provider is for the client, with its value.
    if (at > 1) seen.push(text);
  }
  assertEquals([reports.length, sent.length], [bodies.length, 3]);
  const { spans, finished } = await collectedSpans(() => parsedConfig(UP));
  for (const report of reports) {
    spans.begin(report, new Headers());
    spans.sink(report);
    seen.push(JSON.stringify(finishedView(1, 0, report)));
  }
  for (const { name, attributes, status, events } of await finished()) {
    seen.push(JSON.stringify([name, attributes, status, events]));
  }
  seen.push(...log, await gateway.metrics.scrape());
  for (const text of seen) {
    assert(!/a@x\.com|qz[a-z]{16}|kingfisher|stranger|enemy/i.test(text), text);
  }
});

Deno.test("a running call keeps its rules over a reload, and its answer has the values", async () => {
  const fetch: Fetch = async (_url, { body }) => {
    const [token = ""] = /qz\w{16}email/.exec(await new Response(body ?? "").text()) ?? [];
    gateway.reload(parsedConfig(UP + privacyConfig(["find: [email], action: mask"])));
    return jsonResponse(answered(`to ${token}`));
  };
  const { app, gateway } = testGateway(UP + RULES, scriptedWorld({ fetch }));
  const body = JSON.stringify(chat("a@x.com"));
  const response = await app(new Request(`http://gateway.test${CHAT}`, { method: "POST", body }));
  assertStringIncludes(await response.text(), '"to a@x.com"');
});

Deno.test("parts that no rule can read are counted in the header", async () => {
  const { call } = serving(UP + RULES);
  const url = `data:image/png;base64,${"QUJD".repeat(30)}`;
  const content = [{ type: "image_url", image_url: { url } }];
  const response = await call(CHAT, { model: "m", messages: [{ role: "user", content }] });
  assertEquals(response.headers.get("x-gateway-redacted"), "unread=1");
});

Deno.test("the tokens of a conversation are the same in each turn, so that each request begins like the one before", async () => {
  const texts: string[] = ["Mail a@x.com"];
  const served = serving(UP + RULES);
  for (let turn = 0; turn < 8; turn++) {
    await served.call(CHAT, chat(...texts));
    texts.push(`a@x.com and ${turn}@y.com`, `now ${turn}@z.com`);
  }
  const bodies = served.sent.map((text) => text.slice(0, -2));
  for (const [at, body] of bodies.slice(1).entries()) assert(body.startsWith(bodies[at] ?? "?"));
  const again = serving(UP + RULES);
  await again.call(CHAT, chat("Mail a@x.com"));
  assertEquals(again.sent[0], served.sent[0]);
});

Deno.test("another conversation and another client have other tokens for the same value", async () => {
  const { call, sent } = serving(`${UP}${RULES}
security: {enabled: true, api_key: {keys: [{name: a, value: k-a}, {name: b, value: k-b}]}}`);
  const headers = (key: string, session: string) => ({
    authorization: `Bearer ${key}`,
    "x-gateway-sessionid": session,
  });
  const body = {
    model: "m",
    messages: [{ role: "system", content: "s@x.com" }, { role: "user", content: "u@x.com" }],
  };
  for (const [key, session] of [["k-a", "1"], ["k-a", "2"], ["k-b", "1"]] as const) {
    await call(CHAT, body, headers(key, session));
  }
  const tokens = sent.map((text) => [...text.matchAll(/qz\w+email/g)].map(String));
  assertEquals(tokens[0]?.[0], tokens[1]?.[0]);
  assert(tokens[0]?.[1] !== tokens[1]?.[1]);
  assert(tokens[0]?.[0] !== tokens[2]?.[0] && tokens[0]?.[1] !== tokens[2]?.[1]);
});

Deno.test("policies of the file, of a key, its template and its groups add up", async () => {
  const { call, sent } = serving(`${UP}
privacy:
  secret: ${TEST_SECRET}
  rules: [{name: mail, find: [email], action: mask}, {name: a, words: [aa], action: mask},
    {name: b, words: [bb], action: mask}, {name: c, words: [cc], action: mask}]
  policies: [{name: all, rules: [mail]}, {name: k, rules: [a]}, {name: t, rules: [b]}, {name: g, rules: [c]}]
  default: all
security:
  enabled: true
  api_key: {keys: [{name: x, value: key-x, privacy: k, template: t}, {name: y, value: key-y}]}
  templates: [{name: t, privacy: t}]
  groups: [{name: g, keys: [x], privacy: g}]
`);
  const body = chat("a@x.com aa bb cc");
  await call(CHAT, body, { authorization: "Bearer key-x" });
  await call(CHAT, body, { authorization: "Bearer key-y" });
  assertStringIncludes(
    sent[0] ?? "",
    '"[email] [a] [b] [c]"'.replace("[a] [b] [c]", "[value] [value] [value]"),
  );
  assertStringIncludes(sent[1] ?? "", '"[email] aa bb cc"');
});

Deno.test("a refused value is 400 with its path in the format of each client API, and nothing is sent", async () => {
  const { call, sent, reports, log } = serving(
    UP + privacyConfig(["words: [kingfisher], action: refuse"]),
  );
  const bodies = [
    [CHAT, chat("a Kingfisher")],
    ["/v1/responses", { model: "m", input: "a Kingfisher" }],
    ["/v1/messages", { ...chat("a Kingfisher"), max_tokens: 9 }],
    ["/v1/embeddings", { model: "m", input: ["a Kingfisher"] }],
  ] as const;
  for (const [path, body] of bodies) {
    const response = await call(path, body);
    const text = await response.text();
    assertEquals(response.status, 400);
    assertStringIncludes(text, "privacy_rule_matched");
    assert(!/kingfisher/i.test(text));
  }
  assertEquals(sent, []);
  assertEquals<unknown>(
    reports.map(({ failure }) => failure?.kind),
    bodies.map(() => "privacy_rule_matched"),
  );
  assert(log.every((line) => line.includes('"end":"refused"') && !/kingfisher/i.test(line)));
});

Deno.test("a search that takes too long is 503, which clients do not repeat", async () => {
  const world = scriptedWorld();
  let ms = 0;
  const slow = {
    ...world,
    now: () => ms += 20,
    after: (_ms: number, run: () => void) => (queueMicrotask(run), () => {}),
  };
  const { app } = testGateway(
    UP + RULES.replace("default: p", "default: p\n  max_search_time: 1ms"),
    slow,
  );
  const body = JSON.stringify(chat("x ".repeat(300_000)));
  const response = await app(new Request(`http://gateway.test${CHAT}`, { method: "POST", body }));
  assertEquals([response.status, response.headers.get("x-should-retry")], [503, "false"]);
  assertStringIncludes(await response.text(), "privacy_search_timeout");
});

Deno.test("images and speech are masked, other relayed texts replaced", async () => {
  const config = UP.replace(
    "sk-upstream-secret",
    "k, capabilities: {relay: [images, audio, completions, moderations, rerank]}",
  );
  const { call, sent } = serving(config + RULES);
  for (
    const path of [
      "/v1/images/generations",
      "/v1/audio/speech",
      "/v1/completions",
      "/v1/moderations",
    ]
  ) {
    await (await call(path, { model: "m", prompt: "a@x.com", input: "a@x.com", voice: "v" }))
      .text();
  }
  assertEquals(sent.map((text) => text.includes("[email]")), [true, true, false, false]);
  assert(sent.every((text) => !text.includes("a@x.com")));
});

Deno.test("a local conversation has what the client wrote, and a turn of it sends tokens", async () => {
  const { call, sent } = serving(UP + RULES);
  const item = { type: "message", role: "user", content: "I am a@x.com" };
  const made =
    await (await call("/v1/conversations", { items: [item], metadata: { m: "m@x.com" } })).json();
  assertEquals(made.metadata.m, "m@x.com");
  const listed = await (await call(`/v1/conversations/${made.id}/items`, "", {}, "GET")).text();
  assertStringIncludes(listed, "a@x.com");
  await call("/v1/responses", { model: "m", input: "Who?", conversation: made.id });
  assertMatch(sent[0] ?? "", /I am qz\w+email/);
});

Deno.test("a stored response is continued with the same tokens, and its items are those of the client", async () => {
  const { call, sent } = serving(UP + RULES);
  const first = await (await call("/v1/responses", { model: "m", input: "I am a@x.com" })).json();
  const items = await (await call(`/v1/responses/${first.id}/input_items`, "", {}, "GET")).text();
  assertStringIncludes(items, "a@x.com");
  const next = { model: "m", input: "and a@x.com?", previous_response_id: first.id };
  const second = await (await call("/v1/responses", next)).json();
  const third = { model: "m", input: "again", previous_response_id: second.id };
  await call("/v1/responses", third);
  const tokens = sent.map((text) => [...text.matchAll(/qz\w+email/g)].map(String));
  assertEquals(new Set(tokens.flat()).size, 1);
  assertEquals(tokens.map(({ length }) => length), [1, 2, 2]);
});

Deno.test("JSON of the client with an escaped value is stored as it was written, and what is none for its value too", async () => {
  const { call, sent } = serving(
    UP + privacyConfig(["words: ['Blue \"Falcon\"'], action: replace"]),
  );
  // The second is no JSON for the value's quotes.
  for (const input of [JSON.stringify([{ name: 'Blue "Falcon"' }]), '["Blue "Falcon""]']) {
    sent.length = 0;
    const { id } = await (await call("/v1/responses", { model: "m", input })).json();
    const items = await (await call(`/v1/responses/${id}/input_items`, "", {}, "GET")).json();
    assertEquals(items.data[0].content[0].text, input);
    await call("/v1/responses", { model: "m", input: "again", previous_response_id: id });
    assertEquals(
      JSON.parse(sent[1] ?? "").messages[0].content,
      JSON.parse(sent[0] ?? "").messages[0].content,
    );
  }
});

Deno.test("JSON of the client that is none with the token of a number is stored as it was written", async () => {
  const value = 'Blue "Falcon"';
  const rules = ["find: [card], action: replace", `words: ['${value}'], action: replace`];
  const { call, sent } = serving(UP + privacyConfig(rules));
  const input = JSON.stringify({ card: 4111111111111111, name: value });
  const { id } = await (await call("/v1/responses", { model: "m", input })).json();
  const items = await (await call(`/v1/responses/${id}/input_items`, "", {}, "GET")).json();
  assertEquals(items.data[0].content[0].text, input);
  await call("/v1/responses", { model: "m", input: "again", previous_response_id: id });
  const [first, second] = sent.map((text) => JSON.parse(text).messages[0].content);
  assertEquals(second, first);
  assertMatch(first, /^\{"card":qz\w+card,"name":"qz\w+"\}$/);
});

Deno.test("data sharing exports the tokens", async () => {
  const shared: CapturedCall[] = [];
  const { call } = serving(
    `${UP}${RULES}
general: {api_key: k, backend_url: "http://127.0.0.1:1"}
data_sharing: {enabled: true, share_prompts: true, share_responses: true}`,
    {
      newCapture: ({ generation, id, state }) =>
        newCapture(generation.config, (one) => void shared.push(one), id, state.admission),
    },
  );
  await (await call(CHAT, chat("a@x.com"))).text();
  assertMatch(shared[0]?.prompt ?? "", /qz\w+email/);
  assert(!JSON.stringify(shared[0]?.fields()).includes("a@x.com"));
});

Deno.test("a value in a key that comes twice is in no refusal and not shared, and another key is named", async () => {
  const shared: CapturedCall[] = [];
  const { call, reports } = serving(
    `${UP}${RULES}
general: {api_key: k, backend_url: "http://127.0.0.1:1"}
data_sharing: {enabled: true, share_prompts: true, share_responses: true}`,
    {
      newCapture: ({ generation, id, state }) =>
        newCapture(generation.config, (one) => void shared.push(one), id, state.admission),
    },
  );
  for (const [key, shown] of [["a@x.com", "[email]"], ["stop", "stop"]] as const) {
    const response = await call(CHAT, `{"model":"m","${key}":1,"${key}":2}`);
    assertStringIncludes(await response.text(), `the key \\"${shown}\\" more than once`);
  }
  assertEquals(shared.length, 2);
  const kept = JSON.stringify([
    shared.map((one) => one.fields()),
    reports.map((one) => one.failure),
  ]);
  assert(!kept.includes("a@x.com"), kept);
});

Deno.test("clients with different policies do not share cached answers", async () => {
  const { call, reports } = serving(`${UP}
caching: {enabled: true}
privacy:
  rules: [{name: mail, find: [email], action: mask}, {name: s, find: [card], phase: response, action: mask}]
  policies: [{name: all, rules: [mail]}, {name: more, rules: [s]}]
  default: all
security: {enabled: true, api_key: {keys: [{name: x, value: kx, privacy: more}, {name: y, value: ky}]}}`);
  for (const key of ["kx", "ky", "kx"]) {
    await (await call(CHAT, chat("Hi"), { authorization: `Bearer ${key}` })).text();
  }
  assertEquals(reports.map(({ cache }) => cache), ["MISS", "MISS", "HIT"]);
});

Deno.test("a session with a value in its name is not logged", async () => {
  const { call, log } = serving(UP + RULES);
  await call(CHAT, { ...chat("Hi"), prompt_cache_key: "a@x.com" });
  await call(CHAT, { ...chat("Hi"), prompt_cache_key: "mine" });
  assertEquals(log.map(parseJson).filter(isObject).map(({ session }) => session), [
    undefined,
    "mine",
  ]);
});

Deno.test("a reload of rules holds for the next call", async () => {
  const { call, sent, gateway } = serving(UP + RULES);
  gateway.reload(parsedConfig(UP + privacyConfig(["find: [email], action: mask"])));
  await call(CHAT, chat("a@x.com"));
  assertStringIncludes(sent[0] ?? "", '"[email]"');
});

Deno.test("a turn over a WebSocket sends tokens, and refusals keep the connection", async () => {
  const rules = privacyConfig([MAIL, "words: [kingfisher], action: refuse"]);
  const upstream = wordStreams(() => saying("yes"));
  await using served = socketGateway(UP + rules, upstream);
  await using client = await served.open();
  assertEquals(
    (await client.turn(create({ input: "a kingfisher" }))).error.code,
    "privacy_rule_matched",
  );
  const first = await client.turn(create({ input: "I am a@x.com", store: false }));
  await client.turn(create({ input: "Who?", store: false, previous_response_id: first.id }));
  const bodies = upstream.sent.map(({ body }) => JSON.stringify(body));
  assert(bodies.every((text) => /I am qz\w+email/.test(text) && !text.includes("a@x.com")));
});

Deno.test("the error of a provider over a WebSocket is searched by the rules for answers as over HTTP, and captured without values", async () => {
  const error = { message: "no jane@y.org", type: "invalid_request_error", code: "x" };
  for (const [action, message] of [["mask", "no [email]"], ["refuse", /does not let/]] as const) {
    const shared: CapturedCall[] = [];
    const config = `${UP}${privacyConfig([`find: [email], phase: response, action: ${action}`])}
general: {api_key: k, backend_url: "http://127.0.0.1:1"}
data_sharing: {enabled: true, share_responses: true}
`;
    await using served = socketGateway(config, {
      ...wordStreams(() => Promise.resolve(jsonResponse({ error }, 400))),
      newCapture: ({ generation, id, state }) =>
        newCapture(generation.config, (one) => void shared.push(one), id, state.admission),
    });
    await using client = await served.open();
    const turn = await client.turn(create());
    assertMatch(String(turn.error.message), message instanceof RegExp ? message : /^no \[email\]$/);
    const { privacy, failure } = await served.reported(2);
    assertEquals(privacy?.matches.map(({ count }) => count), [1]);
    assertEquals(failure?.kind, action === "mask" ? "upstream_rejected" : "response_refused");
    const seen = JSON.stringify([turn.events, shared.map((one) => one.fields()), served.log]);
    assert(!seen.includes("jane"), seen);
  }
});

Deno.test("data sharing exports tokens of a WebSocket too, and nothing of a refused turn", async () => {
  const shared: CapturedCall[] = [];
  const config = `${UP}${privacyConfig([MAIL, "words: [kingfisher], action: refuse"])}
general: {api_key: k, backend_url: "http://127.0.0.1:1"}
data_sharing: {enabled: true, share_prompts: true}
`;
  await using served = socketGateway(config, {
    ...wordStreams(() => saying("yes")),
    newCapture: ({ generation, id, state }) =>
      newCapture(generation.config, (one) => void shared.push(one), id, state.admission),
  });
  await using client = await served.open();
  await client.turn(create({ input: "a kingfisher" }));
  await client.turn(create({ input: "I am a@x.com" }));
  await served.reported(3);
  const prompts = shared.map(({ prompt }) => prompt ?? "");
  assert(prompts.every((prompt) => !/kingfisher|a@x\.com/.test(prompt)));
  assert(prompts.some((prompt) => /qz\w+email/.test(prompt)));
});

Deno.test("a reload that changes the rules of a socket closes it with 1012, any other one does not", async () => {
  const upstream = wordStreams(() => saying("yes"));
  await using served = socketGateway(UP + RULES, upstream);
  await using client = await served.open();
  served.reload(UP + RULES + "logging: {level: debug}\n");
  assertEquals((await client.turn(create())).output, "yes");
  served.reload(UP + privacyConfig(["find: [email], action: mask"]));
  assertEquals(await client.closed, 1012);
});

Deno.test("a model in a header that has a value is refused by the header's name", async () => {
  const { call, sent } = serving(`${UP}${RULES}`);
  const refused = await call(CHAT, chat("Hi"), { "x-gateway-model": "ask-a@x.com" });
  const { error } = await refused.json();
  assertEquals([refused.status, error.code, error.param], [
    400,
    "privacy_unreplaceable",
    "X-Gateway-Model",
  ]);
  assert(!error.message.includes("a@x.com"));
  assertEquals(sent, []);
});

Deno.test("a model in a header that has a value is refused at each endpoint, also if the body says nothing", async () => {
  const relay = "[completions, moderations, images, audio, batches, rerank, files]";
  const capable = `k, capabilities: {relay: ${relay}, embeddings_base64: true, conversations: true,
    responses_lifecycle: true, response_compaction: true, response_input_tokens: true}`;
  const { call, sent, reports } = serving(UP.replace("sk-upstream-secret", capable) + RULES);
  const paths = clientApis.flatMap(({ endpoints }) => endpoints)
    .filter(({ method, body }) => method === "POST" && body !== "multipart" && body !== false)
    .map(({ path }) => path.replaceAll(/:\w+/g, "id_1"));
  assert(paths.length > 20);
  const headers = { "x-gateway-model": "up/a@x.com", "content-type": "application/json" };
  for (const path of paths) {
    const text = await (await call(path, "{}", headers)).text();
    assertStringIncludes(text, "privacy_unreplaceable", path);
  }
  assertEquals(sent, []);
  assert(!JSON.stringify(reports.map((one) => finishedView(1, 0, one))).includes("a@x.com"));
});

Deno.test("a session with a value is in no log line, also of a request without a body", async () => {
  const { call, reported, log } = serving(`${UP}${RULES}`);
  await (await call("/v1/models", "", { "x-gateway-sessionid": "a@x.com" }, "GET")).text();
  assertEquals((await reported(1)).session, null);
  assert(!log.some((line) => line.includes("a@x.com")));
});

Deno.test("a session of the body with a value is in no log line of a call that is refused for its model header", async () => {
  const { call, reported, log } = serving(`${UP}${RULES}`);
  const body = { ...chat("hi"), prompt_cache_key: "b@x.com" };
  const response = await call(CHAT, body, { "x-gateway-model": "up/a@x.com" });
  assertEquals(response.status, 400);
  await response.text();
  assertEquals((await reported(1)).session, null);
  assert(!log.some((line) => line.includes("x.com")), log.join("\n"));
});

/** Sends a form with these texts to a provider of transcriptions. */
async function transcribed(texts: readonly string[], settings = "") {
  const config = UP.replace("type: compat", "type: compat, capabilities: {relay: [audio]}");
  const { app, sent } = serving(config + RULES + settings);
  const form = new FormData();
  form.append("model", "m");
  for (const [at, text] of texts.entries()) form.append(`text${at}`, text);
  form.append("file", new File(["RIFF"], "a.wav"));
  const url = "http://gateway.test/v1/audio/transcriptions";
  const response = await app(new Request(url, { method: "POST", body: form }));
  return { code: /"code":"(\w+)"/.exec(await response.text())?.[1] ?? null, sent };
}

Deno.test("the texts of a form have one bound for the places of all", async () => {
  const many = "a@x.com ".repeat(30_000);
  assertEquals((await transcribed([many])).code, null);
  assertEquals((await transcribed([many, many])).code, "privacy_too_many_values");
});

Deno.test("what rules have replaced in a form counts in server.max_body_memory too", async () => {
  const limit = "server: {max_body_memory: 100000}\n";
  const [text, other] = ["x ".repeat(35_000), "x ".repeat(10_000)];
  assertEquals((await transcribed([text, `${other}a@x.com`], limit)).code, "overloaded");
  assertEquals((await transcribed([text, `${other}ax.com`], limit)).code, null);
  assertEquals((await transcribed([`${other}a@x.com`], limit)).code, null);
});

Deno.test("a file name is searched without the backslashes that escape its characters", async () => {
  const config = UP.replace("type: compat", "type: compat, capabilities: {relay: [audio]}") + RULES;
  const { app, sent } = serving(config);
  const lines = [
    "--b",
    'Content-Disposition: form-data; name="model"',
    "",
    "m",
    "--b",
    'Content-Disposition: form-data; name="file"; filename="a\\@x.com.wav"',
    "",
    "RIFF",
    "--b--",
    "",
  ];
  const response = await app(
    new Request("http://gateway.test/v1/audio/transcriptions", {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=b" },
      body: lines.join("\r\n"),
    }),
  );
  const text = await response.text();
  assertEquals([response.status, text.includes("privacy_unreplaceable")], [400, true], text);
  assertEquals(sent, []);
});

Deno.test("a value in an ID of a path is in no log line and no span, and the rest of the path stays", async () => {
  const { call, reported, log, reports } = serving(`${UP}${RULES}`);
  const paths = [
    "/v1/models/a@x.com",
    "/v1/responses/a%40x.com/input_items",
    "/v1/files/file_1",
    "/v1/none/a@x.com",
    "/v1/audio/speech/a@x.com",
  ];
  for (const [at, path] of paths.entries()) {
    await (await call(path, "", {}, "GET")).text();
    await reported(at + 1);
  }
  assertEquals(reports.map(({ path }) => path), [
    "/v1/models/[email]",
    "/v1/responses/[email]/input_items",
    "/v1/files/file_1",
    "/v1/none/[email]",
    "/v1/audio/speech/[email]",
  ]);
  await (await call("/v1/models/a@x.com", "{}")).text();
  assertEquals((await reported(6)).path, "/v1/models/[email]");
  assert(!log.some((line) => line.includes("x.com")), log.join("\n"));
});

Deno.test("a value in the path or session of a call that is refused before its body is read is in no log line", async () => {
  const session = { "x-gateway-sessionid": "a@x.com" };
  const cases: readonly (readonly [config: string, status: number])[] = [
    ["", 404],
    [twoKeys(), 401],
    ["server: {max_concurrent_requests: 1}\n", 503],
  ];
  for (const [config, status] of cases) {
    const { call, gateway, log, reports } = serving(UP + RULES + config);
    if (status === 503) assert(gateway.state.admission.admit("other"));
    const headers = { ...session, ...status === 404 && { "anthropic-version": "2023-06-01" } };
    const response = await call("/v1/files/a@x.com", "", headers, "GET");
    assertEquals([response.status, (await response.text()).includes("x.com")], [status, false]);
    const named = reports.map(({ path, session }) => [path, session]);
    assertEquals(named, [["/v1/files/[email]", null]]);
    assert(!log.some((line) => line.includes("x.com")), log.join("\n"));
  }
});

Deno.test("of a long path the report has the first parts, which are searched", async () => {
  const { call, reported } = serving(`${UP}${RULES}`);
  const parts = Array.from({ length: 10_000 }, (_, at) => `p${at}`);
  await (await call(`/a@x.com/${parts.join("/")}`, "", {}, "GET")).text();
  const { path } = await reported(1);
  assertEquals(path, `/[email]/${parts.slice(0, 62).join("/")}`);
  const long = "x".repeat(900);
  await (await call(`/a@x.com/${long}/${long}@x.com/b`, "", {}, "GET")).text();
  assertEquals((await reported(2)).path, `/[email]/${long}`);
});

Deno.test("a conversation with a value is in no span, unlike another one", async () => {
  const { call, reports } = serving(UP + RULES);
  const headers = { "x-gateway-sessionid": "mine" };
  for (const conversation of ["a@x.com", "conv_1"]) {
    await (await call("/v1/responses", { model: "m", input: "Hi", conversation }, headers)).text();
  }
  const named = reports.map(({ session, conversation }) => [session, conversation]);
  assertEquals(named, [["mine", null], ["mine", "conv_1"]]);
});

Deno.test("a transcript with bytes that are no UTF-8 is searched, and keeps every byte that is no value", async () => {
  const bytesWith = (
    email: string,
    piece: string,
  ) => [...utf8Bytes(`${email} é😀`), 0xff, 0xc3, ...utf8Bytes(` to ${piece} `), 0xe2, 0x82];
  const fetch: Fetch = () => {
    const body = Uint8Array.from(bytesWith("jane@y.org", "jane@y.org"));
    return Promise.resolve(
      new Response(streamOf([body]), { headers: { "content-type": "text/plain" } }),
    );
  };
  const config = `providers: {up: {type: compat, base_url: "http://up.test/v1", capabilities: {
    relay: [audio]}}}
routing: {routes: [{name: r, targets: [{provider: up}]}]}
${privacyConfig(["find: [email], phase: response, action: mask"])}`;
  const { app } = testGateway(config, scriptedWorld({ fetch }));
  const form = new FormData();
  form.append("model", "m");
  form.append("response_format", "text");
  form.append("file", new File(["RIFF"], "a.wav"));
  const request = new Request("http://gateway.test/v1/audio/transcriptions", {
    method: "POST",
    body: form,
  });
  const response = await app(request);
  assertEquals([...new Uint8Array(await response.arrayBuffer())], bytesWith("[email]", "[email]"));
});

Deno.test("log probabilities that a form asks for are named in X-Gateway-Lossy when a rule leaves them out", async () => {
  const fetch: Fetch = () =>
    Promise.resolve(jsonResponse({ text: "yes", logprobs: [{ token: "yes" }] }));
  const config = `providers: {up: {type: compat, base_url: "http://up.test/v1", capabilities: {
    relay: [audio]}}}
routing: {routes: [{name: r, targets: [{provider: up}]}]}
${privacyConfig(["find: [email], phase: response, action: mask"])}`;
  const { app } = testGateway(config, scriptedWorld({ fetch }));
  const form = new FormData();
  form.append("model", "m");
  form.append("include[]", "logprobs");
  form.append("file", new File(["RIFF"], "a.wav"));
  const request = new Request("http://gateway.test/v1/audio/transcriptions", {
    method: "POST",
    body: form,
  });
  const response = await app(request);
  assertEquals(await response.json(), { text: "yes", logprobs: [] });
  assertEquals(response.headers.get("x-gateway-lossy"), "include[]");
});

Deno.test("an answer for whose values there is no response memory is refused while they come back", async () => {
  const mail = `${"a".repeat(60)}@${"b".repeat(60)}.com`;
  const fetch: Fetch = async (_url, { body }) => {
    const [token = ""] = /qz\w+email/.exec(await new Response(body ?? "").text()) ?? [];
    return jsonResponse(answered(`${token} `.repeat(4_000)));
  };
  const { app, gateway: { state: { admission } } } = testGateway(
    UP + RULES,
    scriptedWorld({ fetch }),
  );
  const statusOf = async () => {
    const body = JSON.stringify(chat(mail));
    const response = await app(
      new Request(`http://gateway.test${CHAT}`, { method: "POST", body }),
    );
    const text = await response.text();
    return [response.status, response.ok ? text.split(mail).length - 1 : null];
  };
  admission.holdResponse("other", 256 * 1024 * 1024 - 300_000);
  assertEquals(await statusOf(), [503, null]);
  admission.holdResponse("other", 0);
  assertEquals(await statusOf(), [200, 4_000]);
  assertEquals(admission.responseBytes(), 0);
});

Deno.test("the values of an event that its client has not taken are in the memory of responses", async () => {
  const mail = `${"a".repeat(60)}@${"b".repeat(60)}.com`;
  const fetch: Fetch = async (_url, { body }) => {
    const [token = ""] = /qz\w+email/.exec(await new Response(body ?? "").text()) ?? [];
    const chunk = (delta: JsonObject, finish_reason: string | null) => ({
      ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
      choices: [{ index: 0, delta, finish_reason }],
    });
    const content = `${token} `.repeat(4_000);
    const chunks = [chunk({ role: "assistant", content }, null), chunk({}, "stop")];
    const events = [...chunks.map((one) => JSON.stringify(one)), "[DONE]"];
    return new Response(streamOf([utf8Bytes(events.map((data) => `data: ${data}\n\n`).join(""))]), {
      headers: { "content-type": "text/event-stream" },
    });
  };
  const { app, gateway: { state: { admission } } } = testGateway(
    UP + RULES,
    scriptedWorld({ fetch }),
  );
  const body = JSON.stringify({ ...chat(mail), stream: true });
  const response = await app(new Request(`http://gateway.test${CHAT}`, { method: "POST", body }));
  const reader = response.body?.getReader();
  let bytes = (await reader?.read())?.value?.length ?? 0;
  assert(admission.responseBytes() > 4_000 * mail.length, `${admission.responseBytes()} bytes`);
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    bytes += next.value.length;
  }
  assert(bytes > 4_000 * mail.length);
  assertEquals(admission.responseBytes(), 0);
});
