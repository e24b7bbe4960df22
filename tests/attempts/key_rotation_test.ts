import { heldTurns } from "../support/held_turns.ts";
import { samplesNamed } from "../observe/exposition.ts";
import { assertEquals } from "../support/assert.ts";
import { answers, COMPLETION, type Got, verdictOf } from "../support/chat_call.ts";
import {
  type KeyedRequest,
  poolConfig,
  poolGateway,
  refusal,
  restKeys,
  TWO_KEYS,
} from "../support/pool_gateway.ts";

function isPoison({ body }: KeyedRequest): boolean {
  return body.model === "poison";
}

/** Status, code and `Retry-After` of an error. */
function seen(answer: Got): readonly unknown[] {
  return [answer.status, answer.error.code, answer.headers.get("retry-after")];
}

Deno.test("keys share the requests exactly by their weights", async () => {
  const keys =
    "{name: a, value: sk-a, weight: 3}, {name: b, value: sk-b}, {name: c, value: sk-c, weight: 0}";
  const pool = poolGateway(poolConfig(keys));
  for (let n = 0; n < 40; n++) {
    await pool.ask();
    const window = pool.keys().slice(-4);
    if (window.length < 4) continue;
    assertEquals([...window].sort(), ["sk-a", "sk-a", "sk-a", "sk-b"]);
  }
});

Deno.test("a request goes only to keys that serve its model, and other shares stay exact", async () => {
  const keys = '{name: a, value: sk-a}, {name: b, value: sk-b, models: ["gpt-4o*"]}';
  const pool = poolGateway(poolConfig(keys));
  const sent: Record<string, number> = {};
  for (let n = 0; n < 30; n++) {
    const model = n % 3 === 0 ? "o1" : "gpt-4o-mini";
    const [key] = await pool.keysOf({ body: { model } });
    sent[`${model} ${key}`] = (sent[`${model} ${key}`] ?? 0) + 1;
  }
  assertEquals(sent, { "o1 sk-a": 10, "gpt-4o-mini sk-a": 10, "gpt-4o-mini sk-b": 10 });
});

for (const status of [401, 402, 403, 429]) {
  Deno.test(`a key that is refused with ${status} while calls run rests, and no client sees it`, async () => {
    const pool = poolGateway(poolConfig(TWO_KEYS));
    for (let n = 0; n < 20; n++) {
      if (n === 7) pool.answer("sk-a", refusal(status));
      assertEquals((await pool.ask()).status, 200);
    }
    assertEquals(pool.keys().slice(7).filter((key) => key === "sk-a").length, 1);
    assertEquals(pool.world.now(), 0, "no request was delayed");
    assertEquals(await pool.resting(), { up: 1 });
    await pool.world.advance(60_000);
    assertEquals(await pool.resting(), { up: 0 });
    pool.answer("sk-a", null);
    await pool.ask();
    await pool.ask();
    assertEquals(pool.keys().slice(-2).toSorted(), ["sk-a", "sk-b"]);
  });
}

Deno.test("while most keys are throttled, requests are refused only until a key has served", async () => {
  for (const weights of [[1, 1, 1, 1, 1, 1], [100, 100, 1]]) {
    const keys = weights.map((weight, at) => `{name: k${at}, value: sk-${at}, weight: ${weight}}`);
    const pool = poolGateway(poolConfig(keys.join(", ")));
    const throttled = weights.slice(1).map((_, at) => `sk-${at}`);
    for (const key of throttled) pool.answer(key, refusal(429, { "retry-after": "3600" }));
    const statuses: number[] = [];
    for (let n = 0; n < 40; n++) statuses.push((await pool.ask()).status);
    const failed = statuses.filter((status) => status !== 200).length;
    assertEquals(failed <= weights.length / 2, true, statuses.join());
    assertEquals(statuses.slice(-30).every((status) => status === 200), true);
    // After key_rest the order is that of the weights again.
    for (const key of throttled) pool.answer(key, null);
    await pool.world.advance(60_000);
    const used = new Set<string>();
    for (let n = 0; n < 12; n++) for (const key of await pool.keysOf()) used.add(key);
    assertEquals(used.has("sk-0"), true);
  }
});

Deno.test("a throttled key rests for its Retry-After up to key_rest, a rejected one for key_rest", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS, { settings: "key_rest: 5m" }));
  const cases = [
    [429, { "retry-after": "7" }, 7_000],
    [429, {}, 300_000],
    [401, { "retry-after": "7" }, 300_000],
  ] as const;
  for (const [status, headers, restMs] of cases) {
    pool.answer("sk-a", refusal(status, headers));
    while ((await pool.resting()).up === 0) await pool.ask();
    pool.answer("sk-a", null);
    await pool.world.advance(restMs - 1);
    assertEquals(await pool.resting(), { up: 1 }, `${status}`);
    await pool.world.advance(1);
    assertEquals(await pool.resting(), { up: 0 }, `${status}`);
  }
});

Deno.test("a Retry-After above key_rest counts from the second refusal in a row, a day at most", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  const rest = async () => {
    pool.answer("sk-a", refusal(429, { "retry-after": "99999999" }));
    while ((await pool.resting()).up === 0) await pool.ask();
    pool.answer("sk-a", null);
    let ms = 0;
    for (const step of [59_999, 1, 24 * 3_600_000 - 60_001, 1]) {
      await pool.world.advance(step);
      ms += step;
      if ((await pool.resting()).up === 0) return ms;
    }
    return Infinity;
  };
  assertEquals(await rest(), 60_000);
  assertEquals(await rest(), 24 * 3_600_000);
  await pool.ask();
  await pool.ask();
  assertEquals(await rest(), 60_000, "a served request ends the row");
});

Deno.test("a rejected key is named in one warning for its rest, never with its value", async () => {
  const held: (() => void)[] = [];
  const pool = poolGateway(poolConfig(TWO_KEYS));
  pool.answer("sk-a", async (request) => {
    await new Promise<void>((resolve) => void held.push(resolve));
    return await refusal(403)(request);
  });
  const calls = [pool.ask(), pool.ask(), pool.ask(), pool.ask()];
  await pool.world.advance(0);
  for (const release of held) release();
  assertEquals((await Promise.all(calls)).map(({ status }) => status), [200, 200, 200, 200]);
  assertEquals(held.length, 2);
  const [warning, ...others] = pool.warnings();
  assertEquals(others, []);
  assertEquals([warning?.provider, warning?.key, warning?.status, warning?.rest_ms], [
    "up",
    "a",
    403,
    60_000,
  ]);
  pool.answer("sk-b", refusal(429));
  await pool.ask();
  assertEquals(pool.warnings().length, 1, "a throttled key is no reason for a warning");
  assertEquals(pool.log.some((line) => /sk-[ab]/.test(line)), false);
});

Deno.test("while all keys rest nothing is sent, and the response has the shortest rest as Retry-After", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  await restKeys(pool, { a: 40, b: 50 });
  await pool.world.advance(10_000);
  const resting = await pool.ask();
  assertEquals([verdictOf(resting), resting.headers.get("retry-after")], [
    [429, "rate_limit_error", "provider_keys_resting"],
    "30",
  ]);
  assertEquals(pool.requests.length, 0, "no request is sent while all keys rest");
  assertEquals(pool.reports.at(-1)?.attempts.map(({ key, outcome }) => [key, outcome]), [
    [null, "provider_keys_resting"],
  ]);
});

Deno.test("one client cannot let all keys rest: nothing rests of what no key serves", async () => {
  for (const status of [402, 403, 429]) {
    const three = `${TWO_KEYS}, {name: c, value: sk-c}`;
    const pool = poolGateway(poolConfig(three));
    for (const key of ["sk-a", "sk-b", "sk-c"]) {
      pool.answer(
        key,
        (request) =>
          isPoison(request)
            ? refusal(status, { "retry-after": "86400" })(request)
            : answers(200, COMPLETION),
      );
    }
    const poison = { body: { model: "poison" } };
    for (let n = 0; n < 6; n++) {
      const before = pool.requests.length;
      assertEquals((await pool.ask(poison)).status, status);
      assertEquals(pool.requests.length - before, 2, "the rotation stops at the second key");
      assertEquals(await pool.resting(), { up: 0 });
    }
    // Requests at the same time are refused by all keys at once.
    await Promise.all(Array.from({ length: 9 }, () => pool.ask(poison)));
    for (let n = 0; n < 6; n++) assertEquals((await pool.ask()).status, 200);
    assertEquals([await pool.resting(), pool.warnings()], [{ up: 0 }, []]);
  }
});

Deno.test("after two equal refusals the first one is returned", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS, { more: "retry: {enabled: false}" }));
  pool.answer("sk-a", refusal(429, { "retry-after": "40" }));
  pool.answer("sk-b", refusal(429, { "retry-after": "90" }));
  assertEquals([seen(await pool.ask()), pool.keys()], [[429, "c", "40"], ["sk-a", "sk-b"]]);
  assertEquals([seen(await pool.ask()), pool.keys().slice(2)], [[429, "c", "90"], [
    "sk-b",
    "sk-a",
  ]]);
});

Deno.test("of many refusals with different codes two are kept: an equal one to a third is returned itself", async () => {
  const names = ["a", "b", "c", "d"];
  const keys = names.map((name) => `{name: ${name}, value: sk-${name}}`).join(", ");
  for (const [equal, returned] of [["b", "2"], ["c", "4"]] as const) {
    const pool = poolGateway(poolConfig(keys, { more: "retry: {enabled: false}" }));
    for (const [at, name] of names.entries()) {
      const error = { message: "No.", type: "t", param: null, code: name === "d" ? equal : name };
      pool.answer(`sk-${name}`, () => answers(429, { error }, { "retry-after": String(at + 1) }));
    }
    assertEquals(seen(await pool.ask()), [429, equal, returned]);
    assertEquals(pool.keys(), ["sk-a", "sk-b", "sk-c", "sk-d"]);
  }
});

Deno.test("a 403 that names the model lets a key rest for that model only", async () => {
  const error = {
    message: "Project p has no access to poison.",
    type: "t",
    param: null,
    code: "c",
  };
  const errors = [
    error,
    { ...error, message: "No.", code: "model_not_found" },
    { ...error, message: "No.", param: "reasoning.summary" },
  ];
  for (const named of errors) {
    const pool = poolGateway(poolConfig(TWO_KEYS));
    pool.answer(
      "sk-a",
      (request) => isPoison(request) ? answers(403, { error: named }) : answers(200, COMPLETION),
    );
    const poison = { body: { model: "poison" } };
    for (let n = 0; n < 4; n++) assertEquals((await pool.ask(poison)).status, 200);
    assertEquals(pool.keys().filter((key) => key === "sk-a").length, 1);
    const after = pool.requests.length;
    for (let n = 0; n < 4; n++) assertEquals((await pool.ask()).status, 200);
    assertEquals(pool.keys().slice(after).filter((key) => key === "sk-a").length, 2);
    assertEquals(await pool.resting(), { up: 0 }, "the key itself does not rest");
    assertEquals(pool.warnings().map(({ key, model }) => [key, model]), [["a", "poison"]]);
  }
});

Deno.test("a key that is wrong for certain rests at once, and the rotation continues", async () => {
  const three = `${TWO_KEYS}, {name: c, value: sk-c}`;
  const pool = poolGateway(poolConfig(three));
  pool.answer("sk-a", refusal(401));
  pool.answer("sk-b", refusal(401));
  assertEquals([(await pool.ask()).status, pool.keys()], [200, ["sk-a", "sk-b", "sk-c"]]);
  assertEquals(await pool.resting(), { up: 2 });
  const scoped = poolGateway(poolConfig(three));
  const missing = { message: "Missing scopes: api.model.images.request", type: "t", param: null };
  for (const key of ["sk-a", "sk-b", "sk-c"]) {
    scoped.answer(key, () => answers(401, { error: { ...missing, code: "missing_scope" } }));
  }
  assertEquals((await scoped.ask()).status, 401);
  assertEquals([scoped.keys().length, await scoped.resting()], [2, { up: 0 }]);
});

Deno.test("a 401 whose error does not say that the key is wrong lets no key rest that no other key replaces", async () => {
  const bodies = [
    "",
    "<h1>401 Authorization Required</h1>",
    { error: "Unauthorized" },
    { message: "Unauthorized" },
    { error: { code: 401, message: "User not found." } },
    { error: { message: "This key may not access fine-tuned models.", code: null } },
  ];
  for (const body of bodies) {
    const pool = poolGateway(poolConfig(`${TWO_KEYS}, {name: c, value: sk-c}`));
    for (const key of ["sk-a", "sk-b", "sk-c"]) {
      pool.answer(
        key,
        (request) => isPoison(request) ? answers(401, body) : answers(200, COMPLETION),
      );
    }
    for (let n = 0; n < 4; n++) {
      assertEquals((await pool.ask({ body: { model: "poison" } })).status, 401);
      assertEquals(await pool.resting(), { up: 0 });
      assertEquals((await pool.ask()).status, 200);
    }
  }
});

Deno.test("two requests at once, each served by the key that refuses the other one, never let all keys rest", async () => {
  for (const named of [false, true]) {
    const pool = poolGateway(poolConfig(TWO_KEYS));
    const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let refused = 0;
    const only = (served: string, at: number) => async (request: KeyedRequest) => {
      const { model } = request.body;
      if (model !== "for-a" && model !== "for-b" || model === served) {
        if (model === served) await held[at]?.promise;
        return await answers(200, COMPLETION);
      }
      refused++;
      const error = { message: named ? `No access to ${model}.` : "No.", type: "t", param: null };
      return await answers(403, { error });
    };
    pool.answer("sk-a", only("for-a", 0));
    pool.answer("sk-b", only("for-b", 1));
    const both = ["for-b", "for-a"].map((model) => pool.ask({ body: { model } }));
    // Both are served by a key before either response arrives: each key was refused once, or will
    // be.
    await pool.world.advance(1);
    for (const { resolve } of held) resolve();
    assertEquals((await Promise.all(both)).map(({ status }) => status), [200, 200]);
    assertEquals(refused, 2);
    assertEquals((await pool.resting()).up, named ? 0 : 1);
    for (let n = 0; n < 4; n++) assertEquals((await pool.ask()).status, 200);
  }
});

Deno.test("a key that is throttled while another one rests has the shortest rest of both", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  pool.answer("sk-a", refusal(429, { "retry-after": "40" }));
  assertEquals((await pool.ask()).status, 200);
  pool.answer("sk-b", refusal(429, { "retry-after": "90" }));
  assertEquals(seen(await pool.ask()), [429, "c", "40"]);
});

Deno.test("when a key was rejected the last response of all refused keys is passed on as it is", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  pool.answer("sk-a", refusal(401));
  pool.answer("sk-b", refusal(429, { "retry-after": "90" }));
  assertEquals(seen(await pool.ask()), [429, "c", "90"]);
  pool.answer("sk-b", refusal(401));
  assertEquals(seen(await pool.ask()), [401, "c", null]);
  const resting = await pool.ask();
  assertEquals([verdictOf(resting), resting.headers.get("retry-after")], [
    [503, "upstream_error", "provider_keys_refused"],
    "60",
  ]);
});

Deno.test("a throttled pool is retried after the Retry-After of the first key, with each key once in an attempt", async () => {
  const retry = "retry: {max_attempts: 2, initial_delay: 100ms, jitter_factor: 0}";
  const pool = poolGateway(poolConfig(TWO_KEYS, { more: retry }));
  pool.answer("sk-a", refusal(429, { "retry-after": "2" }));
  pool.answer("sk-b", refusal(429, { "retry-after": "3" }));
  const asked = pool.ask();
  await pool.world.advance(1_999);
  assertEquals(pool.keys(), ["sk-a", "sk-b"]);
  pool.answer("sk-a", null);
  await pool.world.advance(1);
  assertEquals([(await asked).status, pool.keys()], [200, ["sk-a", "sk-b", "sk-b", "sk-a"]]);
  const [report] = pool.reports;
  assertEquals(report?.attempts.map(({ key, number }) => [key, number]), [
    ["a", 1],
    ["b", 1],
    ["b", 2],
    ["a", 2],
  ]);
  assertEquals(pool.log.some((line) => line.includes('"retries":1,')), true);
});

Deno.test("a key that is refused is not counted as a retry, also in a retried attempt", async () => {
  const retry = "retry: {max_attempts: 2, initial_delay: 100ms, jitter_factor: 0}";
  const three = `${TWO_KEYS}, {name: c, value: sk-c}`;
  const pool = poolGateway(poolConfig(three, { more: retry }));
  pool.answer("sk-a", () => answers(500, "broken"));
  pool.answer("sk-b", refusal(401));
  const asked = pool.ask();
  await pool.world.advance(100);
  assertEquals([(await asked).status, pool.keys()], [200, ["sk-a", "sk-b", "sk-c"]]);
  const line = pool.log.find((text) => text.includes('"msg":"request"')) ?? "";
  assertEquals(/"retries":(\d+)/.exec(line)?.[1], "1");
  assertEquals(
    /"tries":"([^"]*)"/.exec(line)?.[1],
    "up(a):upstream_unavailable,up(b):upstream_rejected,up(c):success",
  );
  assertEquals(/"provider_key":"([^"]*)"/.exec(line)?.[1], "c");
});

Deno.test("no-retry and no-fallback headers do not stop the next key", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  pool.answer("sk-a", refusal(429));
  const headers = { "x-gateway-no-retry": "true", "x-gateway-no-fallback": "true" };
  assertEquals((await pool.ask({ headers })).status, 200);
});

Deno.test("fallbacks serve the calls while all keys rest, and the pool serves again after the rest", async () => {
  for (const status of [429, 401]) {
    const pool = poolGateway(poolConfig(TWO_KEYS, { fallback: "{provider: spare, model: s}" }));
    if (status === 429) await restKeys(pool, { a: 60, b: 60 });
    else {
      pool.answer("sk-a", refusal(status));
      pool.answer("sk-b", refusal(status));
      assertEquals((await pool.ask()).status, 401);
    }
    assertEquals(await pool.keysOf(), ["spare-key"]);
    assertEquals(pool.reports.at(-1)?.fallbacks, 1);
    await pool.world.advance(60_000);
    pool.answer("sk-a", null);
    pool.answer("sk-b", null);
    assertEquals((await pool.ask()).headers.get("x-gateway-provider"), "up");
  }
});

Deno.test("a request that is throttled with two keys falls back", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS, { fallback: "{provider: spare, model: s}" }));
  pool.answer("sk-a", refusal(429));
  pool.answer("sk-b", refusal(429));
  assertEquals(await pool.keysOf(), ["sk-a", "sk-b", "spare-key"]);
});

Deno.test("a target whose keys all rest is passed over while another target can serve", async () => {
  const config = poolConfig(TWO_KEYS).replace(
    "targets: [{provider: up}]",
    "targets: [{provider: up}, {provider: spare}]",
  );
  const pool = poolGateway(config);
  await restKeys(pool, { a: 60, b: 60 });
  for (let n = 0; n < 6; n++) assertEquals((await pool.ask()).status, 200);
  assertEquals(new Set(pool.keys()), new Set(["spare-key"]));
});

Deno.test("a target whose keys do not serve the model is passed over; without another it is refused", async () => {
  const keys = '{name: a, value: sk-a, models: ["gpt-*"]}, {name: b, value: sk-b, weight: 0}';
  const alone = poolGateway(poolConfig(keys));
  const refused = await alone.ask({ body: { model: "o1" } });
  assertEquals([verdictOf(refused), refused.error.param, alone.requests.length], [
    [400, "invalid_request_error", "model_not_found"],
    "model",
    0,
  ]);
  assertEquals(await alone.keysOf({ body: { model: "gpt-x" } }), ["sk-a"]);
  const rescued = poolGateway(poolConfig(keys, { fallback: "{provider: spare}" }));
  assertEquals(await rescued.keysOf({ body: { model: "o1" } }), ["spare-key"]);
  const both = poolGateway(
    poolConfig(keys).replace("[{provider: up}]", "[{provider: up}, {provider: spare}]"),
  );
  for (let n = 0; n < 4; n++) {
    assertEquals(await both.keysOf({ body: { model: "o1" } }), ["spare-key"]);
  }
});

Deno.test("a refused key opens no circuit breaker, and a breaker belongs to one key", async () => {
  const more = "retry: {enabled: false}\ncircuit_breaker: {failure_threshold: 2}";
  const pool = poolGateway(poolConfig(TWO_KEYS, { more, settings: "key_rest: 1s" }));
  for (const status of [401, 429]) {
    pool.answer("sk-a", refusal(status));
    for (let n = 0; n < 10; n++) {
      assertEquals((await pool.ask()).status, 200);
      await pool.world.advance(1_000);
    }
  }
  pool.answer("sk-a", () => answers(503, "broken"));
  let failed = 0;
  for (let n = 0; n < 12; n++) failed += (await pool.ask()).status === 503 ? 1 : 0;
  assertEquals(failed, 2, "after two failures the other key serves all");
  const { breakers } = pool.gateway.state;
  const [a, b] = pool.gateway.generation.providers.get("up")?.accounts ?? [];
  assertEquals([a, b].map((one) => breakers.state(one?.digest ?? "")), ["open", "closed"]);
  const name = "gateway_circuit_breaker_state";
  const states = samplesNamed(await pool.gateway.metrics.scrape(), name);
  assertEquals(states['{provider="up"}'], 0, "the provider still takes requests");
});

Deno.test("a lone key does not rest: each request is sent, and errors are those of the provider", async () => {
  for (const keys of ["api_key: sk-a", "api_keys: [{name: a, value: sk-a}]"]) {
    const pool = poolGateway(poolConfig(TWO_KEYS).replace(`api_keys: [${TWO_KEYS}]`, keys));
    for (const status of [429, 401]) {
      pool.answer("sk-a", refusal(status));
      assertEquals([seen(await pool.ask()), seen(await pool.ask())], [
        [status, "c", null],
        [status, "c", null],
      ]);
    }
    assertEquals([await pool.resting(), pool.warnings()], [{}, []]);
    assertEquals(pool.reports.map(({ attempts }) => attempts[0]?.key), [null, null, null, null]);
  }
});

Deno.test("the attempts metric has no label for keys and counts each refused request", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  pool.answer("sk-a", refusal(401));
  await pool.ask();
  const name = "gateway_upstream_attempts_total";
  const samples = samplesNamed(await pool.gateway.metrics.scrape(), name);
  assertEquals(
    Object.entries(samples).map(([labels, count]) => [
      [...labels.matchAll(/(\w+)=/g)].map(([, label]) => label).toSorted(),
      /outcome="(\w+)"/.exec(labels)?.[1],
      count,
    ]),
    [
      [["outcome", "provider"], "upstream_rejected", 1],
      [["outcome", "provider"], "success", 1],
    ],
  );
});

Deno.test("the slot of a provider is one for all keys, and is released after the last one", async () => {
  const settings = "max_concurrent: 1, max_queued: 1";
  const pool = poolGateway(poolConfig(TWO_KEYS, { settings }));
  pool.answer("sk-a", refusal(429));
  const statuses = await Promise.all([pool.ask(), pool.ask()]);
  assertEquals(statuses.map(({ status }) => status), [200, 200]);
  assertEquals((await pool.ask()).status, 200);
  const up = pool.gateway.generation.providers.get("up");
  assertEquals(up && pool.gateway.state.slots.counts(up), { running: 0, queued: 0 });
});

Deno.test("a client that leaves while a key is refused is sent nothing more", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  const client = new AbortController();
  pool.answer("sk-a", async (request) => {
    client.abort();
    return await refusal(429)(request);
  });
  assertEquals((await pool.ask({ signal: client.signal })).status, 499);
  assertEquals(pool.keys(), ["sk-a"]);
});

Deno.test("errors of the provider hold none of the keys", async () => {
  const keys = "{name: a, value: sk-first-key}, {name: b, value: sk-second-key}";
  const pool = poolGateway(poolConfig(keys));
  const message = "sk-first-key and sk-second-key are wrong";
  const tell = () => answers(401, { error: { message, type: "t", param: null, code: "c" } });
  pool.answer("sk-first-key", tell);
  pool.answer("sk-second-key", tell);
  const { text } = await pool.ask();
  assertEquals(/\[redacted\] and \[redacted\] are wrong/.test(text), true, text);
});

Deno.test("a whole response is cached once for all keys", async () => {
  const more = "caching: {enabled: true}";
  const pool = poolGateway(poolConfig(TWO_KEYS, { more }), () => answers(200, COMPLETION));
  for (let n = 0; n < 3; n++) await pool.ask();
  assertEquals(pool.requests.length, 1);
});

Deno.test("a large request waits for its turn before it is translated for another key", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  const held = heldTurns("entering");
  Object.assign(pool.gateway.state, { turns: held.turns });
  for (const key of ["sk-a", "sk-b"]) pool.answer(key, refusal(429));
  const call = pool.ask({ body: { user: "x".repeat(40_000) } });
  await held.waits(1);
  assertEquals(pool.keys(), [], "the body is not parsed yet");
  held.begin();
  await held.waits(1);
  assertEquals(pool.keys(), ["sk-a"]);
  held.begin();
  assertEquals((await call).status, 429);
  assertEquals([pool.keys(), held.waiting()], [["sk-a", "sk-b"], 0], "none is left to wait for");
});

Deno.test("a request is not translated for another key while the heap is nearly full", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  let isFull = false;
  Object.assign(pool.gateway.state.admission, { isHeapFull: () => isFull });
  pool.answer("sk-a", (request) => {
    isFull = true;
    return refusal(429)(request);
  });
  assertEquals(seen(await pool.ask()), [503, "overloaded", "1"]);
  assertEquals(pool.keys(), ["sk-a"]);
});
