import { assert, assertEquals } from "../support/assert.ts";
import { testAdmin } from "../support/admin.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { keyOf } from "../support/client_keys.ts";
import { heldStream, wordStreams } from "../support/word_stream.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";

const TWO_TARGETS = `
providers:
  first: {type: compat, base_url: "http://first", api_key: k1, max_concurrent: 3}
  second: {type: messages, base_url: "http://second", api_key: k2}
  spare:
    type: compat
    base_url: "http://spare"
    api_keys: [{name: red, value: r}, {name: blue, value: b}]
routing:
  routes:
    - name: main
      targets: [{provider: first, weight: 3}, {provider: second, model: c, weight: 1}]
      fallback: [{provider: spare, model: f}]
retry: {enabled: false}
circuit_breaker: {failure_threshold: 1, open_duration: 10s}
`;

function gatewayOver(fetch: Fetch, config = TWO_TARGETS) {
  const world = scriptedWorld({ fetch });
  const admin = testAdmin(config, world);
  admin.feed.close();
  return { world, ...admin };
}

const good: Fetch = () => answers(200, COMPLETION);

Deno.test("an empty gateway has a snapshot of its providers, routes and store", async () => {
  const { snapshot, world } = gatewayOver(good);
  await world.advance(2_500);
  const shown = await snapshot();
  assertEquals([shown.uptimeMs, shown.generation, shown.isDraining], [2_500, 1, false]);
  assertEquals([shown.gatewayUrl, shown.requiresKey], ["http://127.0.0.1:8080", false]);
  assertEquals([shown.seconds, shown.running, shown.finished, shown.keys], [[], [], [], []]);
  assertEquals(shown.privacy, null);
  assertEquals(
    shown.providers.map(({ id, type, maxConcurrent, running }) => [
      id,
      type,
      maxConcurrent,
      running,
    ]),
    [["first", "compat", 3, 0], ["second", "messages", null, null], [
      "spare",
      "compat",
      null,
      null,
    ]],
  );
  assertEquals(shown.providers[2]?.keys, [
    { name: "red", isUsed: true, restsForMs: null, opensInMs: null },
    { name: "blue", isUsed: true, restsForMs: null, opensInMs: null },
  ]);
  assertEquals(shown.routes, [{
    name: "main",
    match: "any path, any model",
    strategy: "weighted",
    calls: 0,
    failed: 0,
    targets: [
      {
        provider: "first",
        model: null,
        share: 0.75,
        calls: 0,
        failed: 0,
        servedShare: null,
        cachedShare: null,
        firstContent: { p50Ms: null, p95Ms: null, p99Ms: null },
      },
      {
        provider: "second",
        model: "c",
        share: 0.25,
        calls: 0,
        failed: 0,
        servedShare: null,
        cachedShare: null,
        firstContent: { p50Ms: null, p95Ms: null, p99Ms: null },
      },
    ],
    fallbacks: [
      {
        provider: "spare",
        model: "f",
        share: null,
        calls: 0,
        failed: 0,
        servedShare: null,
        cachedShare: null,
        firstContent: { p50Ms: null, p95Ms: null, p99Ms: null },
      },
    ],
  }]);
  assertEquals([shown.store.engine, shown.store.isUp, shown.store.pingMs], ["memory", true, null]);
  assertEquals(shown.store.objects[0], { name: "responses", entries: 0, bytes: 0 });
});

Deno.test("a failed target, its breaker and the fallback that served are in the snapshot", async () => {
  const { app, snapshot, world } = gatewayOver((url) =>
    url.startsWith("http://first") ? answers(503, "overloaded: SECRET-BODY") : good(url, {})
  );
  const response = await app(chatRequest({ body: { model: "c", logprobs: true } }));
  assertEquals(response.status, 200);
  await response.text();
  await world.advance(4_000);
  const { providers: [first], routes: [route], finished: [call] } = await snapshot();
  assertEquals([first?.breaker, first?.opensInMs, first?.outcomes], ["open", 6_000, {
    upstream_unavailable: 1,
  }]);
  assertEquals([...route?.targets ?? [], ...route?.fallbacks ?? []].map((one) => one.calls), [
    0,
    0,
    1,
  ]);
  assertEquals(route?.fallbacks[0]?.servedShare, 1);
  assertEquals(
    call?.targets.map(({ provider, model, isFallback, isChosen }) => [
      provider,
      model,
      isFallback,
      isChosen,
    ]),
    [["first", "c", false, true], ["second", "c", false, false], ["spare", "f", true, false]],
  );
  assertEquals(call?.targets[0]?.skipped, null);
  assert(call?.targets[1]?.skipped?.includes("logprobs"), String(call?.targets[1]?.skipped));
  assertEquals(call?.attempts.map(({ provider, outcome, key }) => [provider, outcome, key]), [
    ["first", "upstream_unavailable", null],
    ["spare", "success", "red"],
  ]);
  assertEquals([call?.access["fallback"], call?.access["end"], call?.failure], [
    true,
    "complete",
    null,
  ]);
});

Deno.test("the circuit breakers of a pool are those of its keys that serve new requests", async () => {
  const { app, snapshot } = gatewayOver(
    () => answers(503, "overloaded"),
    `
providers:
  up:
    type: compat
    base_url: http://up/v1
    api_keys:
      - {name: red, value: k1, models: [m]}
      - {name: blue, value: k2, models: [n]}
      - {name: grey, value: k3, weight: 0}
circuit_breaker: {failure_threshold: 1, open_duration: 10s}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`,
  );
  const failOn = async (model: string) =>
    await (await app(chatRequest({ body: { model } }))).text();
  await failOn("m");
  const grey = { name: "grey", isUsed: false, restsForMs: null, opensInMs: null };
  const { providers: [half] } = await snapshot();
  assertEquals([half?.breaker, half?.keys], ["closed", [
    { name: "red", isUsed: true, restsForMs: null, opensInMs: 10_000 },
    { name: "blue", isUsed: true, restsForMs: null, opensInMs: null },
    grey,
  ]]);
  await failOn("n");
  const { providers: [all] } = await snapshot();
  assertEquals([all?.breaker, all?.opensInMs, all?.keys[2]], ["open", 10_000, grey]);
});

Deno.test("a target with an open circuit breaker is passed over for that reason", async () => {
  let isBroken = true;
  const { app, snapshot } = gatewayOver((url) => isBroken ? answers(500, "") : good(url, {}));
  const headers = { "x-gateway-provider": "first" };
  await (await app(chatRequest({ headers, body: { model: "c" } }))).text();
  isBroken = false;
  await (await app(chatRequest({ body: { model: "c" } }))).text();
  const [call] = (await snapshot()).finished;
  assertEquals(
    call?.targets.map(({ provider, isChosen, skipped }) => [provider, isChosen, skipped]),
    [
      ["first", false, "its circuit breaker is open, or all its keys rest"],
      ["second", true, null],
      ["spare", false, null],
    ],
  );
});

Deno.test("fallbacks of a call that permits none are passed over for that reason", async () => {
  const { app, snapshot } = gatewayOver(() => answers(503, ""));
  const headers = { "x-gateway-no-fallback": "true", "x-gateway-provider": "first" };
  await (await app(chatRequest({ headers }))).text();
  const [call] = (await snapshot()).finished;
  assertEquals(
    call?.targets.map(({ provider, isChosen, skipped }) => [provider, isChosen, skipped]),
    [
      ["first", true, null],
      ["second", false, "another provider is requested"],
      ["spare", false, "the request permits no fallback"],
    ],
  );
  assertEquals(call?.attempts.map(({ provider }) => provider), ["first"]);
});

Deno.test("a running call shows its phase, and its records once it streams", async () => {
  const held = heldStream();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const streams = wordStreams(async (sent) => {
    await begun;
    return await held.answer(sent);
  });
  const { app, snapshot, world } = gatewayOver(streams.fetch);
  const pending = app(chatRequest({ body: { stream: true } }));
  await world.advance(300);
  const [waiting] = (await snapshot()).running;
  assertEquals([waiting?.phase, waiting?.ageMs, waiting?.route, waiting?.path], [
    "waiting",
    300,
    "main",
    "/v1/chat/completions",
  ]);
  begin();
  held.say("Hi");
  const reader = (await pending).body?.getReader();
  await reader?.read();
  const [streaming] = (await snapshot()).running;
  assertEquals([streaming?.phase, streaming?.provider], ["streaming", "first"]);
  assertEquals(streaming?.records, 1);
  await world.advance(700);
  held.finish();
  for (let read = await reader?.read(); read?.done === false;) read = await reader?.read();
  const after = await snapshot();
  assertEquals([after.runningCount, after.finishedCount], [0, 1]);
  // The attempt of a stream lasts until the stream has ended.
  assertEquals(after.finished[0]?.attempts.map(({ endedMs }) => endedMs), [1_000]);
  assertEquals(after.finished[0]?.access["end"], "complete");
});

Deno.test("the newest 50 running calls are shown, and the number of all", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const { app, snapshot } = gatewayOver(
    () => promise,
    TWO_TARGETS.replace(", max_concurrent: 3", ""),
  );
  const calls = Array.from(
    { length: 60 },
    () => app(chatRequest({ headers: { "x-gateway-provider": "first" } })),
  );
  const { runningCount, running } = await snapshot();
  assertEquals([runningCount, running.length], [60, 50]);
  const ids = running.map(({ id }) => id);
  assertEquals(ids, ids.toSorted().toReversed(), "newest first");
  resolve(new Response("", { status: 400 }));
  for (const response of await Promise.all(calls)) await response.body?.cancel();
});

Deno.test("client keys are shown by name with their use, limits and budgets, and never by value", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const keys = `security:
  enabled: true
  api_key:
    keys:
      - {name: ada, value: key-of-ada, requests_per_minute: 30, tokens_per_minute: 1000,
         max_concurrent: 2, budgets: [{per: day, usd: 2, tokens: 500}]}
      - {name: bob, value: key-of-bob, disabled: true}
  groups: [{name: team, keys: [ada, bob], tokens_per_minute: 2000, budgets: [{per: month, usd: 9}]}]
rate_limiting: {enabled: true}
pricing: {first/m: {input: 100000, output: 100000}}
`;
  const { app, get, snapshot } = gatewayOver(
    () => answers(200, { ...COMPLETION, usage }),
    keys + TWO_TARGETS,
  );
  const headers = { ...keyOf("ada"), "x-gateway-provider": "first" };
  await (await app(chatRequest({ headers }))).text();
  const { keys: [ada, bob], requiresKey, keyHeader, exampleModel } = await snapshot();
  assertEquals([requiresKey, exampleModel], [true, "second/c"]);
  assertEquals(keyHeader, { name: "Authorization", prefix: "Bearer" });
  assertEquals(ada, {
    name: "ada",
    group: "team",
    isDisabled: false,
    requestsPerMinute: 1,
    tokensPerMinute: 15,
    maxRequestsPerMinute: 30,
    maxTokensPerMinute: 1000,
    groupRates: [{ scope: "team", tokensPerMinute: 15, maxTokensPerMinute: 2000 }],
    running: 0,
    maxConcurrent: 2,
    budgets: [
      { scope: "ada", period: "day", spentUsd: 1.5, limitUsd: 2 },
      { scope: "team", period: "month", spentUsd: 1.5, limitUsd: 9 },
    ],
    tokenBudgets: [{ scope: "ada", period: "day", spent: 15, limit: 500 }],
    today: { calls: 1, input: 10, output: 5, cached: 0, nanoUsd: 1.5e9, estimated: 0 },
  });
  assertEquals([bob?.isDisabled, bob?.maxRequestsPerMinute], [true, 60]);
  const text = await (await get("/snapshot")).text();
  assert(!text.includes("key-of-ada") && !text.includes("key-of-bob"));
});

Deno.test("privacy rules are shown with the values that they found in 15 minutes, and never a value", async () => {
  const rules = `
privacy:
  rules:
    - {name: mail, find: [email], action: replace}
    - {name: strangers, find: [email], phase: response, action: mask}
    - {name: keys, find: [aws_key], action: refuse}
  policies:
    - {name: outside, rules: [mail, strangers]}
    - {name: strict, rules: [keys], unread: refuse}
  default: outside
`;
  /** Answers with the last text of the request, which has the token, and another address. */
  const echoes: Fetch = async (_url, { body } = {}) => {
    const { messages } = JSON.parse(await new Response(body).text());
    const content = `${messages.at(-1).content} and eve@example.net`;
    const message = { role: "assistant", content };
    return answers(200, {
      ...COMPLETION,
      choices: [{ index: 0, message, finish_reason: "stop" }],
    });
  };
  const { app, get, snapshot, world } = gatewayOver(echoes, TWO_TARGETS + rules);
  const headers = { "x-gateway-provider": "first" };
  const body = { messages: [{ role: "user", content: "Write to bob@example.com" }] };
  const answer = await (await app(chatRequest({ headers, body }))).text();
  assert(answer.includes("Write to bob@example.com and [email]"), answer);
  const shown = await snapshot();
  const totals = { restored: 1, unknown: 0, unread: 0 };
  assertEquals(shown.privacy, {
    policies: [
      {
        name: "outside",
        rules: ["mail", "strangers"],
        isDefault: true,
        refusesUnread: false,
      },
      { name: "strict", rules: ["keys"], isDefault: false, refusesUnread: true },
    ],
    rules: [
      { name: "mail", phase: "request", action: "replace", matches: 1 },
      { name: "strangers", phase: "response", action: "mask", matches: 1 },
      { name: "keys", phase: "request", action: "refuse", matches: 0 },
    ],
    ...totals,
  });
  const [call] = shown.finished;
  assertEquals([call?.access["redacted"], call?.access["restored"]], ["mail:1", 1]);
  assertEquals(typeof call?.searchMs, "number");
  const text = await (await get("/snapshot")).text();
  for (const secret of ["bob", "eve", "qz"]) assert(!text.includes(secret), secret);
  await world.advance(15 * 60_000);
  const later = await snapshot();
  assertEquals(later.privacy?.rules.map(({ matches }) => matches), [0, 0, 0]);
});

Deno.test("names that clients choose are cut, and hostile ones are only data in the JSON", async () => {
  const { app, get, snapshot } = gatewayOver(good);
  const hostile = `</script><script>alert(1)</script>"\u2028\u202e\u001b[2J`;
  await (await app(chatRequest({ body: { model: hostile } }))).text();
  await (await app(chatRequest({ body: { model: "m".repeat(100_000) } }))).text();
  const path = `/v1/${"p".repeat(10_000)}?secret-query`;
  await (await app(new Request(`http://localhost${path}`, { headers: { host: "localhost" } })))
    .text();
  const { finished } = await snapshot();
  const [unknown, long, first] = finished;
  assertEquals(first?.access["model"], hostile);
  assertEquals(String(long?.access["model"]).length, 301);
  assertEquals(String(unknown?.access["path"]).length, 301);
  const response = await get("/snapshot");
  assertEquals(response.headers.get("content-type"), "application/json");
  const text = await response.text();
  assert(text.length < 20_000 && !text.includes("secret-query"));
});

Deno.test("a snapshot says that the gateway is draining", async () => {
  const { gateway, snapshot } = gatewayOver(good);
  gateway.state.inFlight.drain();
  assertEquals((await snapshot()).isDraining, true);
});

Deno.test("while the page is off, calls have no trace and nothing receives them when they begin", async () => {
  const { app, gateway, reports } = testGateway(
    TWO_TARGETS,
    scriptedWorld({ fetch: good }),
  );
  await (await app(chatRequest())).text();
  assertEquals([gateway.began, reports.map(({ trace }) => trace)], [null, [null]]);
});

Deno.test("a failed call counts on its route and at its last target, with the model that it requested", async () => {
  const { app, snapshot } = gatewayOver(() => answers(503, ""));
  const headers = { "x-gateway-no-fallback": "true", "x-gateway-provider": "first" };
  await (await app(chatRequest({ headers, body: { model: "m" } }))).text();
  const { routes: [route], finished: [call] } = await snapshot();
  assertEquals([route?.calls, route?.failed], [1, 1]);
  assertEquals(
    route?.targets.map(({ calls, failed, servedShare }) => [calls, failed, servedShare]),
    [
      [1, 1, null],
      [0, 0, null],
    ],
  );
  assertEquals([call?.outcome, call?.access["model"], call?.requestedModel], [
    "failed",
    "m",
    undefined,
  ]);
});

Deno.test("a refused call has the model that it requested, wherever it was refused", async () => {
  const { app, snapshot } = gatewayOver(good);
  const requests = [
    chatRequest({ body: { model: "first/none", messages: "no list" } }),
    chatRequest({
      body: { model: "a", logprobs: true },
      headers: { "x-gateway-provider": "second" },
    }),
    chatRequest({
      body: { model: "a", messages: [] },
      headers: { "x-gateway-model": "by-header" },
    }),
  ];
  for (const request of requests) await (await app(request)).text();
  const { finished } = await snapshot();
  assertEquals(
    finished.toReversed().map((
      { outcome, code, requestedModel },
    ) => [outcome, code, requestedModel]),
    [
      ["refused", "invalid_type", "first/none"],
      ["refused", "model_not_found", "a"],
      ["refused", "missing_required_parameter", "by-header"],
    ],
  );
});

Deno.test("a refused call with a multipart body has the model of its form", async () => {
  const { app, snapshot } = gatewayOver(good);
  const form = new FormData();
  form.set("model", "whisper-large");
  form.set("file", new File(["sound"], "a.wav"));
  const request = new Request("http://localhost/v1/audio/transcriptions", {
    method: "POST",
    headers: { host: "localhost" },
    body: form,
  });
  const response = await app(request);
  assertEquals(response.status, 400);
  await response.body?.cancel();
  const [call] = (await snapshot()).finished;
  assertEquals([call?.outcome, call?.requestedModel], ["refused", "whisper-large"]);
});

Deno.test("a provider with a credential has its state, and never its value", async () => {
  const config = TWO_TARGETS.replace("api_key: k2", "credential: {type: google, source: metadata}");
  const { snapshot, world, gateway } = gatewayOver(good, config);
  const [{ holder } = { holder: null }] = gateway.generation.credentials.values();
  const secret = { kind: "token", token: "token-1" } as const;
  const issued = { secret, expiresMs: world.wall() + 60_000 };
  const states: unknown[] = [];
  for (const update of [null, { issued, isFailing: false }, { issued, isFailing: true }]) {
    if (update !== null) holder?.update({ ...update, nextMs: null });
    const shown = await snapshot();
    assert(!JSON.stringify(shown).includes("token-1"));
    states.push(shown.providers.map(({ credential }) => credential));
  }
  assertEquals(states, [
    [undefined, "gone", undefined],
    [undefined, "fresh", undefined],
    [undefined, "late", undefined],
  ]);
});
