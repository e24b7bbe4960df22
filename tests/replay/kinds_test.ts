import { targetDifferences } from "../../src/replay/compare_targets.ts";
import type { TargetView } from "../../src/replay/view_target.ts";
import { assertEquals } from "../support/assert.ts";
import { newRecord } from "../support/records.ts";
import { differencesIn, recordOf, replayed } from "../support/replay.ts";

const BASE = `
providers:
  openai: {type: compat, base_url: "https://api.openai.com/v1", api_key: sk-1}
  claude: {type: messages, base_url: "https://api.anthropic.com", api_key: sk-2}
routing:
  routes:
    - name: main
      targets: [{provider: openai, model: gpt-4o}]
      fallback: [{provider: claude, model: claude-opus-4-5}]
`;

const CHAT = recordOf("/v1/chat/completions", {
  model: "gpt-4o",
  messages: [{ role: "user", content: "a secret of the client" }],
}, { head: { usage: null } });

const STRICT = {
  type: "function",
  function: {
    name: "look",
    strict: true,
    parameters: {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    },
  },
};

const TOOLS = recordOf("/v1/messages", {
  model: "gpt-4o",
  max_tokens: 100,
  messages: [
    { role: "user", content: "a secret" },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t1", content: "no", is_error: true }],
    },
  ],
  tools: [{ name: "look", input_schema: { type: "object" } }],
});

/** Returns what differs for a record after a replacement in the file. */
async function changed(from: string, to: string, record = CHAT, base = BASE) {
  const after = base.replace(from, to);
  if (after === base) throw new Error(`the file has no ${from}`);
  return differencesIn(await replayed([record], base, after));
}

Deno.test("a request that no target carries any more is refused, with status, code and path", async () => {
  const record = recordOf("/v1/chat/completions", {
    model: "gpt-4o",
    messages: [{ role: "user", content: "Hi." }],
    logit_bias: { "5": 1 },
  });
  const found = await changed(
    "targets: [{provider: openai, model: gpt-4o}]",
    "targets: [{provider: claude, model: gpt-4o}]",
    record,
  );
  assertEquals(found, [
    "refused logit_bias: main -> openai/gpt-4o -> 400 unsupported_feature, logit_bias",
  ]);
  const back = await replayed(
    [record],
    BASE.replace("{provider: openai, model: gpt-4o}", "{provider: claude, model: gpt-4o}"),
    BASE,
  );
  assertEquals(differencesIn(back), [
    "accepted logit_bias: 400 unsupported_feature, logit_bias -> main -> openai/gpt-4o",
  ]);
});

Deno.test("a request that is refused for another reason is an error", async () => {
  const record = recordOf("/v1/chat/completions", {
    model: "gpt-4o",
    messages: [{ role: "user", content: "Hi." }],
    logit_bias: { "5": 1 },
  });
  const claude = BASE.replace("{provider: openai, model: gpt-4o}", "{provider: claude}");
  const listed = claude.replace("name: main", "name: main\n      match: {models: [gpt-9]}");
  assertEquals(differencesIn(await replayed([record], claude, listed)), [
    "error logit_bias: 400 unsupported_feature, logit_bias -> 502 no_route",
    "route: main -> none",
  ]);
});

Deno.test("a request that both files refuse alike has another route", async () => {
  const record = recordOf("/v1/chat/completions", {
    model: "gpt-4o",
    messages: [{ role: "user", content: "Hi." }],
    logit_bias: { "5": 1 },
  });
  const claude = BASE.replace("{provider: openai, model: gpt-4o}", "{provider: claude}");
  const other = claude.replace("name: main", "name: other");
  assertEquals(differencesIn(await replayed([record], claude, other)), ["route: main -> other"]);
  const last = claude.replace("fallback: [{provider: claude, ", "fallback: [{provider: openai, ");
  const [targets] = differencesIn(await replayed([record], BASE, last));
  assertEquals(targets?.split(" (")[0], "targets: openai 100% -> none");
  const broken = recordOf("/v1/chat/completions", { model: "gpt-4o", messages: 7 });
  assertEquals((await replayed([broken], claude, claude)).different, 0);
});

Deno.test("another route, another target, another fallback and another model are named", async () => {
  assertEquals(await changed("name: main", "name: other"), ["route: main -> other"]);
  assertEquals(
    await changed(
      "targets: [{provider: openai, model: gpt-4o}]",
      "targets: [{provider: claude, model: gpt-4o}]",
    ),
    ["targets: openai 100% -> claude 100%"],
  );
  assertEquals(
    await changed("      fallback: [{provider: claude, model: claude-opus-4-5}]\n", ""),
    ["fallback: claude -> none"],
  );
  assertEquals(
    await changed("model: claude-opus-4-5", "model: claude-sonnet-4-5"),
    [
      "model: openai/gpt-4o, claude/claude-opus-4-5 -> openai/gpt-4o, claude/claude-sonnet-4-5",
      "request model: string -> string",
    ],
  );
});

Deno.test("other shares are a difference, the order of targets with the same shares is none", async () => {
  const two = BASE.replace(
    "[{provider: openai, model: gpt-4o}]",
    "[{provider: openai, model: gpt-4o, weight: 3}, {provider: claude, model: gpt-4o}]",
  );
  const turned = BASE.replace(
    "[{provider: openai, model: gpt-4o}]",
    "[{provider: claude, model: gpt-4o}, {provider: openai, model: gpt-4o, weight: 3}]",
  );
  assertEquals(differencesIn(await replayed([CHAT], two, turned)), []);
  assertEquals(
    differencesIn(await replayed([CHAT], two, two.replace("weight: 3", "weight: 1"))),
    ["targets: claude 25%, openai 75% -> claude 50%, openai 50%"],
  );
});

Deno.test("a sticky route is compared by the target of the session", async () => {
  const sticky = BASE.replace(
    "targets: [{provider: openai, model: gpt-4o}]",
    "strategy: sticky\n      targets: [{provider: openai, model: gpt-4o}, {provider: claude, model: gpt-4o}]",
  );
  const record = {
    ...CHAT,
    request: { ...CHAT.request, headers: { "x-gateway-sessionid": "s2" } },
  };
  const found = await replayed([newRecord(record)], BASE, sticky);
  assertEquals(found.groups[0]?.after, "claude after it, openai of the session");
  assertEquals(differencesIn(await replayed([newRecord(record)], sticky, sticky)), []);
});

Deno.test("a field that is carried only in part, or verified, is named by its path", async () => {
  const native = BASE.replace(
    "{provider: openai, model: gpt-4o}",
    "{provider: claude, model: gpt-4o}",
  )
    .replace("fallback: [{provider: claude, model: claude-opus-4-5}]", "fallback: []");
  const translated = BASE.replace(
    "fallback: [{provider: claude, model: claude-opus-4-5}]",
    "fallback: []",
  );
  const found = differencesIn(await replayed([TOOLS], native, translated));
  assertEquals(found.filter((one) => one.startsWith("lossy")), [
    "lossy messages[].content[].is_error: none -> messages[].content[].is_error",
  ]);
  const local = translated.replace("type: compat", "type: local").replace(", api_key: sk-1", "")
    .replace("openai.com/v1", "openai.com");
  const json = recordOf("/v1/chat/completions", {
    model: "gpt-4o",
    messages: [{ role: "user", content: "Hi." }],
    tools: [STRICT],
  });
  const verified = differencesIn(await replayed([json], translated, local));
  assertEquals(verified.filter((one) => one.startsWith("verified")), [
    "verified tools[].function.strict: none -> tools[].function.strict",
  ]);
});

Deno.test("another upstream path, body and header are named, without their values", async () => {
  assertEquals(await changed("api.openai.com/v1", "api.openai.com/v2"), [
    "request url: POST https://api.openai.com/v1/chat/completions -> POST https://api.openai.com/v2/chat/completions",
  ]);
  assertEquals(
    await changed("api_key: sk-1", "api_key: sk-1, headers: {x-team: blue}"),
    ["headers x-team: absent -> string"],
  );
});

Deno.test("other secrets are no difference", async () => {
  assertEquals(await changed("api_key: sk-1", "api_key: sk-9"), []);
  const headed = BASE.replace("api_key: sk-1", "headers: {x-auth-token: one}");
  assertEquals(await changed("token: one", "token: two", CHAT, headed), []);
  const queried = BASE.replace("openai.com/v1", "openai.com/v1?key=one");
  assertEquals(await changed("key=one", "key=two", CHAT, queried), []);
});

Deno.test("another price of the first target is a difference, and so is a price that is not known", async () => {
  const priced = `${BASE}pricing: {openai/gpt-4o: {input: 1, output: 1}}\n`;
  const used = recordOf("/v1/chat/completions", {
    model: "auto",
    messages: [{ role: "user", content: "Hi." }],
  });
  assertEquals(await changed("{input: 1, output: 1}", "{input: 2, output: 1}", used, priced), [
    "cost: openai/gpt-4o -> openai/gpt-4o",
  ]);
  const own = priced.replaceAll("gpt-4o", "own-model");
  const report = await replayed(
    [used],
    own,
    own.replace(/pricing.*/, ""),
  );
  assertEquals(differencesIn(report), ["cost: openai/own-model -> openai/own-model, no price"]);
  assertEquals(report.cost.lost, 1);
});

const KEYS = `${BASE}
security:
  enabled: true
  api_key:
    keys:
      - {name: team-a, value: 0123456789abcdef}
      - {name: team-b, value: fedcba9876543210}
`;

const KEYED = newRecord({ ...CHAT, head: { ...CHAT.head, key: "team-a" } });

Deno.test("a budget in USD of end users refuses a model without a price, as one of their key does", async () => {
  const own = KEYS.replaceAll("gpt-4o", "own-model").replace(/ *fallback: .*/, "");
  const ofKey = "max_concurrent: 5, end_users: {header: X-User, template: chat}";
  const users = `${own.replace("0123456789abcdef", `0123456789abcdef, ${ofKey}`)}
  templates: [{name: chat, max_concurrent: 5, budgets: [{per: day, tokens: 5}]}]
`;
  const call = recordOf("/v1/chat/completions", {
    model: "auto",
    messages: [{ role: "user", content: "Hi." }],
  }, { head: { key: "team-a", end_user: "0123456789ab" } });
  const without = { ...call, head: { ...call.head, end_user: null } };
  const refusal = ["refused model: main -> openai/own-model -> 403 model_not_priced, model"];
  const [tokens, usd] = ["{per: day, tokens: 5}", "{per: day, usd: 5}"];
  assertEquals(await changed(tokens, usd, call, users), refusal);
  assertEquals(await changed(tokens, usd, without, users), []);
  assertEquals(await changed("max_concurrent: 5", `budgets: [${usd}]`, without, users), refusal);
});

Deno.test("a client key that is missing, disabled or has expired is a difference by itself", async () => {
  assertEquals(await changed("name: team-a", "name: team-c", KEYED, KEYS), ["key: all -> missing"]);
  assertEquals(
    await changed("name: team-a", "name: team-a, disabled: true", KEYED, KEYS),
    ["key: all -> lapsed"],
  );
  const until = (day: string) => `name: team-a, expires: ${day}`;
  assertEquals(await changed("name: team-a", until("2026-11-23"), KEYED, KEYS), [
    "key: all -> lapsed",
  ]);
  assertEquals(await changed("name: team-a", until("2026-11-24"), KEYED, KEYS), []);
});

Deno.test("other permissions of the client key are a difference, also where the call is not refused", async () => {
  assertEquals(
    await changed("name: team-a", "name: team-a, providers: [openai]", KEYED, KEYS),
    ["key: all -> providers: openai", "fallback: claude -> none"],
  );
  assertEquals(
    await changed("name: team-a", "name: team-a, endpoints: [embeddings]", KEYED, KEYS),
    [
      "key: all -> endpoints: embeddings",
      "refused: main -> openai/gpt-4o -> 403 endpoint_not_allowed",
    ],
  );
});

Deno.test("a call whose end user was named in another header is one without where the new file reads it", async () => {
  const keys = (header: string) =>
    KEYS.replace("name: team-a", `name: team-a, end_users: {header: ${header}, required: true}`);
  const named = newRecord({ ...KEYED, head: { ...KEYED.head, end_user: "0123456789abcdef" } });
  const differences = (from: string, to: string) => changed(from, to, named, keys("x-user"));
  assertEquals(await differences("x-user", "X-User"), []);
  assertEquals(await differences("x-user", "x-other"), [
    "refused x-other: main -> openai/gpt-4o -> 400 invalid_value, x-other",
  ]);
  assertEquals(await differences("x-user, required: true", "x-other"), []);
  assertEquals(await differences("end_users: {header: x-user, required: true}", "record: all"), []);
});

Deno.test("equal differences of many records are one group, and a record counts once in each", async () => {
  const records = [1, 2, 3].map((number) =>
    newRecord({ ...CHAT, id: `call-${number}`, at: `2026-11-23T14:02:1${number}.000Z` })
  );
  const report = await replayed(
    [...records].reverse(),
    BASE,
    BASE.replace("name: main", "name: other"),
  );
  assertEquals([report.records, report.replayed, report.different], [3, 3, 3]);
  assertEquals(report.groups.map(({ kind, count }) => [kind, count]), [["route", 3]]);
  assertEquals(report.groups[0]?.records.map(({ id }) => id), ["call-1", "call-2", "call-3"]);
});

Deno.test("what cannot be replayed is counted by its reason", async () => {
  const { request: _, ...head } = CHAT;
  const records = [
    head,
    newRecord({ ...CHAT, head: { ...CHAT.head, cut: ["request"] } }),
    newRecord({ ...CHAT, request: { ...CHAT.request, body: null } }),
    recordOf("/v1/responses", { model: "gpt-4o", input: "Hi.", previous_response_id: "resp_1" }),
    recordOf("/v1/responses", { model: "gpt-4o", input: "Hi.", conversation: "conv_1" }),
    "no record",
  ];
  const report = await replayed(records, BASE, BASE);
  assertEquals(Object.fromEntries(report.skipped), {
    head_only: 1,
    cut: 1,
    endpoint: 1,
    previous_not_recorded: 1,
    conversation_not_recorded: 1,
    unreadable: 1,
  });
  assertEquals([report.records, report.replayed], [6, 0]);
  assertEquals(report.skippedIds.get("unreadable"), ["no ID"]);
  const unknown = await replayed([newRecord({ head: { key: "team-z" } })], KEYS, KEYS);
  assertEquals(Object.fromEntries(unknown.skipped), { unknown_key: 1 });
});

Deno.test("the order of members and white space count only if that is wanted", () => {
  const view = (text: string): TargetView => ({
    provider: "p",
    wire: "compat",
    model: "m",
    share: "100%",
    lossy: [],
    verified: [],
    method: "POST",
    url: "http://a.test",
    headers: {},
    body: () => text,
  });
  const pair = { before: view(`{"a":1,"b":2}`), after: view(`{"b": 2, "a": 1}`), isSame: true };
  assertEquals(targetDifferences(pair, false), []);
  assertEquals(targetDifferences(pair, true).map(({ kind, paths }) => [kind, ...paths]), [
    ["request", "$"],
  ]);
});

Deno.test("a record with what is no method, path or header is unreadable, and ends no replay", async () => {
  const file = `
providers: {up: {type: compat, base_url: "https://api.example.com/v1", api_key: k}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;
  const good = recordOf("/v1/chat/completions", {
    model: "m",
    messages: [{ role: "user", content: "Hi" }],
  });
  const { head, request = { headers: {}, query: "", body: "" } } = good;
  const records = [
    { ...good, head: { ...head, method: "CONNECT" } },
    { ...good, head: { ...head, method: "a b" } },
    { ...good, head: { ...head, path: ":99999/v1/chat/completions" } },
    { ...good, head: { ...head, path: "@example.com/v1/chat/completions" } },
    { ...good, request: { ...request, headers: { "a b": "c" } } },
    { ...good, request: { ...request, headers: { traceparent: "a\r\nb" } } },
    { ...good, request: { ...request, headers: { traceparent: "\u2713" } } },
  ];
  const { skipped, replayed: count } = await replayed([...records, good], file, file);
  assertEquals([count, [...skipped]], [1, [["unreadable", records.length]]]);
});

Deno.test("a request to an endpoint without routes is compared as far as one file refuses it", async () => {
  const counted = recordOf("/v1/responses/input_tokens", { model: "native/m", input: "Hi." });
  const config = (capabilities: string) => `
providers:
  native: {type: compat, base_url: "https://api.openai.com/v1", api_key: k, capabilities: {${capabilities}}}
routing: {routes: [{name: main, targets: [{provider: native, model: m}]}]}
`;
  const [able, unable] = [config("response_input_tokens: true"), config("")];
  assertEquals((await replayed([counted], able, able)).skipped.get("endpoint"), 1);
  const refused = (await replayed([counted], able, unable)).groups;
  assertEquals(refused.map(({ kind, before }) => [kind, before]), [["refused", "not refused"]]);
  const accepted = (await replayed([counted], unable, able)).groups;
  assertEquals(accepted.map(({ kind, after }) => [kind, after]), [["accepted", "not refused"]]);
});
