import { checkImported } from "../../src/cli/import.ts";
import { importClaudeCodeRouter } from "../../src/import/claude_code_router.ts";
import { importLitellm } from "../../src/import/litellm.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** Imports entries with these `litellm_params`, whose names are `m0`, `m1` and so on. */
function imported(...entries: readonly Readonly<Record<string, unknown>>[]) {
  const model_list = entries.map((litellm_params, at) => {
    return { model_name: `m${at}`, litellm_params };
  });
  const result = importLitellm(JSON.stringify({ model_list }), {});
  assert(result.ok);
  assertEquals(checkImported(result.imported).problems, []);
  const { file, lines } = result.imported;
  return { file: file ?? "", statusOf: (path: string) => lines.find((one) => one.path === path) };
}

Deno.test("a header with a value like a key becomes a variable, whatever its name is", () => {
  const values = [
    "0a1b2c3d4e5f60718293a4b5",
    "sk-0000",
    "App 0a1b2c3d4e5f60718293a4b5",
    "5f0c8b1e-7f5c-4d5e-9b59-1f2e3d4c5b6a",
  ];
  const plain = ["context-1m-2025-08-07", "https://example.com/app1", "My app 1", "2023-06-01"];
  const extra_headers = Object.fromEntries(
    [...values, ...plain].map((value, at) => [`X-Org-${at}`, value]),
  );
  const { file, statusOf } = imported({ model: "openai/gpt", extra_headers });
  for (const value of values) assert(!file.includes(value), value);
  for (const value of plain) assert(file.includes(value), value);
  const path = "model_list[0].litellm_params.extra_headers.X-Org-0";
  assertEquals(statusOf(path)?.note, "a secret in the source: set OPENAI_X_ORG_0_HEADER to it");
});

Deno.test("a header with a name that our file refuses is missing, and the entry is carried", () => {
  const extra_headers = JSON.parse('{"__proto__": "x", "X-A": "y"}');
  const { file, statusOf } = imported({ model: "openai/gpt", extra_headers });
  assert(file.includes("X-A") && !file.includes("__proto__"));
  assertEquals(statusOf("model_list[0].litellm_params.extra_headers.(key 1)")?.status, "missing");
});

Deno.test("a key that begins like a secret is shown by its place", () => {
  const { statusOf } = imported({ model: "openai/gpt", "sk-hidden-word": "x" });
  assertEquals(statusOf("model_list[0].litellm_params.(key 2)")?.status, "missing");
});

Deno.test("an entry whose prefix has no model is not carried, unlike the next one", () => {
  const { file, statusOf } = imported({ model: "openai/" }, { model: "openai/ " }, {
    model: "openai/gpt",
  });
  for (const at of [0, 1]) {
    const line = statusOf(`model_list[${at}].litellm_params.model`);
    assertEquals([line?.status, line?.note], ["missing", "it names no model"]);
  }
  assert(file.includes("  m2:") && !file.includes("  m0:"));
});

Deno.test("a log level with the name of a member of every object is not carried", () => {
  const result = importClaudeCodeRouter(JSON.stringify({
    Providers: [{ name: "a", api_base_url: "https://a.example.com/v1", models: ["m"] }],
    Router: { default: "a,m" },
    LOG_LEVEL: "constructor",
  }));
  assert(result.ok);
  assertEquals(checkImported(result.imported).problems, []);
  const line = result.imported.lines.find(({ path }) => path === "LOG_LEVEL");
  assertEquals(line?.status, "missing");
});

Deno.test("a file of comments or strings without an end is refused, and each is searched once", () => {
  // With a search from each of them, the test would take an hour.
  for (
    const text of [
      "/* ".repeat(680_000),
      `"${'\\"'.repeat(1_000_000)}`,
      `'${"\\'".repeat(1_000_000)}`,
    ]
  ) {
    assertEquals(importClaudeCodeRouter(text).ok, false);
  }
});

Deno.test("comments are left out of JSON, and strings keep what looks like one", () => {
  const result = importClaudeCodeRouter(`{ // comment, with "quotes"
    "Providers": [/* /* */ {"name": "a", "api_base_url": "https://a.example.com/v1//x", "models": ["m"],},],
    "Router": {"default": "a,m"} /*/ still a comment */
  }`);
  assert(result.ok);
  assertEquals(checkImported(result.imported).problems, []);
  assert(result.imported.file?.includes("https://a.example.com/v1//x"));
});

/** The status and the note of each of these paths of a LiteLLM file. */
function reported(source: object, ...paths: readonly string[]) {
  const result = importLitellm(JSON.stringify(source), {});
  assert(result.ok);
  const { lines, file } = result.imported;
  const statuses = paths.map((path) => {
    const line = lines.find((one) => one.path === path);
    return [line?.status, line?.note];
  });
  return { statuses, file: file ?? "" };
}

const [FAST, LONG] = ["fast", "long"].map((model_name) => {
  return { model_name, litellm_params: { model: `openai/${model_name}` } };
});

Deno.test("a list of fallbacks of which nothing is left does not hide the one for long prompts", () => {
  for (const fallbacks of [[{ "*": ["fast"] }], [{ fast: ["unknown"] }]]) {
    const router_settings = { fallbacks, context_window_fallbacks: [{ fast: ["long"] }] };
    const { statuses, file } = reported(
      { model_list: [FAST, LONG], router_settings },
      "router_settings.context_window_fallbacks[0].fast[0]",
    );
    assertEquals(statuses, [["carried", ""]]);
    assert(file.includes("fallback_on: [context_length]"), file);
  }
});

Deno.test("that only one team has a model is missing, since here every client key has it", () => {
  const model_info = { team_id: "a", team_public_model_name: "b" };
  const { statuses } = reported(
    { model_list: [{ ...FAST, model_info }] },
    "model_list[0].model_info.team_id",
    "model_list[0].model_info.team_public_model_name",
  );
  const line = ["missing", "client keys name models by patterns: models"];
  assertEquals(statuses, [line, line]);
});

Deno.test("an entry whose Google key is a mapping is missing, not served without that key", () => {
  const litellm_params = {
    model: "vertex_ai/gemini-2.5-pro",
    vertex_project: "p",
    vertex_credentials: { type: "service_account" },
  };
  const { statuses, file } = reported(
    { model_list: [FAST, { model_name: "gemini", litellm_params }] },
    "model_list[1].litellm_params.model",
    "model_list[1].litellm_params.vertex_credentials.type",
  );
  assertEquals(statuses.map(([status]) => status), ["missing", "missing"]);
  assert(!file.includes("gemini"), file);
});

Deno.test("only a file without a name for every model says that others are refused", () => {
  const every = { model_name: "*", litellm_params: { model: "openai/*" } };
  for (const [entries, isNoted] of [[[FAST], true], [[FAST, every], false]] as const) {
    const { file } = reported({ model_list: entries });
    assert(file.includes("The same models as provider/model."));
    assertEquals(file.includes("A model that is not in this file is refused."), isNoted);
  }
});

Deno.test("a credential that no entry names is missing", () => {
  const credential_list = [{ credential_name: "c", credential_values: { api_key: "k" } }];
  const { statuses } = reported(
    { credential_list, model_list: [FAST] },
    "credential_list[0].credential_name",
    "credential_list[0].credential_values.api_key",
  );
  const line = ["missing", "no entry names this credential"];
  assertEquals(statuses, [line, line]);
});

Deno.test("a number of retries below that of an error works differently", () => {
  const router_settings = { num_retries: 2, retry_policy: { TimeoutErrorRetries: 3 } };
  const { statuses, file } = reported(
    { model_list: [FAST], router_settings },
    "router_settings.num_retries",
  );
  assertEquals(statuses, [["differently", "one number for all errors, the largest"]]);
  assert(file.includes("max_attempts: 4"), file);
});

Deno.test("a provider whose name cannot be an ID does not get the name of a later one", () => {
  const Providers = ["a b", "models"].map((name, at) => {
    return { name, api_base_url: `https://api.models.com/${at}/chat/completions`, models: ["m"] };
  });
  const Router = { default: "models,m" };
  const result = importClaudeCodeRouter(JSON.stringify({ Providers, Router }));
  assert(result.ok);
  const places = result.imported.lines.filter(({ path }) => path.endsWith(".name"));
  const ids = places.map(({ to: [place] }) => place?.replace("providers.", ""));
  assert(ids[0] !== ids[1], ids.join());
  assertEquals(ids[1], "models");
});

Deno.test("of two providers of claude-code-router with one name the later one is carried", () => {
  const Providers = ["p", "p", "p-2"].map((name, at) => {
    return { name, api_base_url: `https://${at}.example.com/v1`, models: ["m"] };
  });
  const result = importClaudeCodeRouter(JSON.stringify({ Providers, Router: { default: "p,m" } }));
  assert(result.ok);
  const places = result.imported.lines.filter(({ path }) => path.endsWith(".name"));
  assertEquals(places.map(({ status, to }) => [status, ...to]), [
    ["missing"],
    ["carried", "providers.p"],
    ["carried", "providers.p-2"],
  ]);
  assert(result.imported.file?.includes("https://1.example.com"));
  assert(!result.imported.file?.includes("https://0.example.com"));
});

Deno.test("a reference to a variable with another name than ours is a variable, and no text", () => {
  const litellm_params = {
    model: "openai/m",
    api_key: "os.environ/MY_KEY ",
    organization: "os.environ/MY-ORG",
  };
  const { statuses, file } = reported(
    {
      model_list: [
        { model_name: "a", litellm_params },
        { model_name: "b", litellm_params: { model: "os.environ/M ", api_base: "https://a.test" } },
      ],
      general_settings: { master_key: "os.environ/MASTER KEY" },
    },
    "model_list[0].litellm_params.api_key",
    "model_list[0].litellm_params.organization",
    "general_settings.master_key",
    "model_list[1].litellm_params.model",
  );
  assertEquals(statuses.map(([status]) => status), [
    ...["differently", "differently", "differently", "missing"],
  ]);
  assert(statuses[0]?.[1]?.includes("set OPENAI_API_KEY to its value"), statuses.join());
  assert(!/os\.environ|sha256/.test(file), file);
  for (const line of ["api_key: ${OPENAI_API_KEY}", "organization: ${IMPORTED_VALUE}"]) {
    assert(file.includes(line), file);
  }
  // A digest of the reference would admit everybody who knows the source.
  assert(/name: master, value: "?\$\{MASTER_KEY\}/.test(file), file);
});

Deno.test("a number, a level or an address that we refuse is missing, and the file passes check", () => {
  const entry = (model: string, params: object) => {
    return { model_name: "*", litellm_params: { model, ...params } };
  };
  const price = { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 };
  const source = {
    model_list: [
      FAST,
      { ...entry("openai/m", { max_parallel_requests: 0.5 }), model_name: "a" },
      { ...entry("anthropic/m", { reasoning_effort: "minimal" }), model_name: "b" },
      { ...entry("openai/*", {}), model_info: price },
    ],
    router_settings: { redis_host: "r", redis_port: "many", redis_password: "os.environ/R" },
  };
  const { statuses, file } = reported(
    source,
    "model_list[1].litellm_params.max_parallel_requests",
    "model_list[2].litellm_params.reasoning_effort",
    "model_list[3].model_info.input_cost_per_token",
    "router_settings.redis_host",
    "router_settings.redis_port",
    "router_settings.redis_password",
  );
  assertEquals(statuses.map(([status]) => status), Array(6).fill("missing"));
  const result = importLitellm(JSON.stringify(source), {});
  assert(result.ok);
  assertEquals(checkImported(result.imported).problems, []);
  assert(!/max_concurrent|effort: minimal|redis:|pricing/.test(file), file);
});

Deno.test("a fallback of a name to itself is missing", () => {
  const router_settings = { fallbacks: [{ fast: ["fast"] }, { long: ["long", "fast"] }] };
  const { statuses, file } = reported(
    { model_list: [FAST, LONG], router_settings },
    "router_settings.fallbacks[0].fast[0]",
    "router_settings.fallbacks[1].long[0]",
    "router_settings.fallbacks[1].long[1]",
  );
  assertEquals(statuses.map(([status]) => status), ["missing", "missing", "differently"]);
  assertEquals(file.match(/fallback:/g)?.length, 1);
});

Deno.test("a variable within an address of claude-code-router stays one, with and without braces", () => {
  const Providers = ["http://$MY_HOST:8000/v1", "http://${MY_HOST}:9000/v1"].map((address, at) => {
    return { name: `p${at}`, api_base_url: `${address}/chat/completions`, models: ["m"] };
  });
  const result = importClaudeCodeRouter(JSON.stringify({ Providers, Router: { default: "p0,m" } }));
  assert(result.ok);
  assertEquals(checkImported(result.imported).problems, []);
  assertEquals(result.imported.variables, ["MY_HOST"]);
  for (const port of [8000, 9000]) {
    assert(
      result.imported.file?.includes(`http://\${MY_HOST}:${port}/v1`),
      result.imported.file ?? "",
    );
  }
});

Deno.test("a transformer of claude-code-router has options only in a list with its name", () => {
  const limit = ["maxtoken", { max_tokens: 9 }];
  for (const isLimited of [false, true]) {
    const use = isLimited ? [limit] : limit;
    const result = importClaudeCodeRouter(JSON.stringify({
      Providers: [{
        name: "a",
        api_base_url: "https://a.test/v1",
        models: ["m"],
        transformer: { use },
      }],
      Router: { default: "a,m" },
    }));
    assert(result.ok);
    assertEquals(result.imported.file?.includes("max_tokens: 9"), isLimited);
    const line = result.imported.lines.find(({ path }) => path.endsWith(".max_tokens"));
    assertEquals(line?.status, isLimited ? "differently" : "missing");
  }
});

Deno.test("an option of a transformer of claude-code-router is carried nowhere without being said", () => {
  const only = ["openrouter", { provider: { only: ["host"] } }];
  const limit = ["maxtoken", { max_tokens: 9 }];
  const result = importClaudeCodeRouter(JSON.stringify({
    Providers: [
      ["https://a.test/v1/chat/completions", [only]],
      ["https://b.test/v1/messages", [limit]],
    ].map(([api_base_url, use], at) => ({
      ...{ name: `p${at}`, api_base_url, models: ["m"], transformer: { use } },
    })),
    Router: { default: "p0,m" },
  }));
  assert(result.ok);
  assert(!result.imported.file?.includes("max_tokens"));
  const lines = result.imported.lines.filter(({ path }) => path.includes("use[0]"));
  assertEquals(lines.map(({ path, status }) => `${status} ${path.slice(path.indexOf("use"))}`), [
    "carried use[0][0]",
    "missing use[0][1].provider.only[0]",
    "missing use[0][0]",
    "missing use[0][1].max_tokens",
  ]);
});

Deno.test("a provider of claude-code-router over the Responses API is called over it", () => {
  const result = importClaudeCodeRouter(JSON.stringify({
    Providers: [
      { name: "a", api_base_url: "https://a.test/v1/chat/completions", models: ["m"] },
      {
        ...{ name: "r", api_base_url: "https://r.test/v1/responses", models: ["g"], api_key: "" },
        transformer: { use: ["openai-responses"] },
      },
    ],
    Router: { default: "r,g", background: "a,m" },
  }));
  assert(result.ok);
  const { lines } = result.imported;
  const file = result.imported.file ?? "";
  assert(file.includes("base_url: https://r.test/v1\n"), file);
  assertEquals(checkImported(result.imported).problems, []);
  const targets = file.split("\n").filter((line) => line.includes("- {provider"));
  assertEquals(targets.map((line) => line.trim()), [
    "- {provider: a, model: m}",
    "- {provider: r, upstream_request_type: responses, model: g}",
    "- {provider: a}",
    "- {provider: r, upstream_request_type: responses}",
    "- {provider: r, upstream_request_type: responses, model: g}",
  ]);
  const status = (end: string) => lines.find(({ path }) => path.endsWith(end))?.status;
  assertEquals([status("use[0]"), status("[1].api_key")], ["carried", "no meaning"]);
});

Deno.test("a value of claude-code-router that is not understood is no unknown key", () => {
  const odd = { PORT: "$PORT", LOG: "maybe", LOG_LEVEL: "loud", API_TIMEOUT_MS: "0" };
  const result = importClaudeCodeRouter(JSON.stringify({
    ...odd,
    Providers: [{ name: "a", api_base_url: "https://a.test/v1", models: ["m"] }],
    Router: { default: "a,m" },
  }));
  assert(result.ok);
  const lines = result.imported.lines.filter(({ path }) => Object.hasOwn(odd, path));
  assertEquals(
    lines.map(({ status, note }) => `${status}: ${note}`),
    Object.keys(odd).map(() => "missing: a value that is not understood"),
  );
});

Deno.test("the file that version 3 of claude-code-router exports is read, with its preferred provider", () => {
  const Providers = [
    { name: "off", baseUrl: "https://off.test/v1", models: ["o"], enabled: false },
    { name: "first", baseUrl: "https://first.test/v1", apiKey: "$FIRST_KEY", models: ["f"] },
    {
      ...{
        name: "second",
        api_base_url: "",
        baseUrl: "https://second.test/v1",
        models: ["s", "t"],
      },
      type: "anthropic_messages",
    },
  ];
  const config = {
    ...{ APIKEY: "a-client-key-0123456789", HOST: "127.0.0.1", PORT: 3456, Providers },
    Router: { builtInRules: { codex: { enabled: true } }, rules: [], fallback: { mode: "off" } },
    ...{ preferredProvider: "second", theme: "system", trayIcon: "random" },
  };
  const files = [{ base64: "U1FMaXRl", name: "config.sqlite", path: "/x", sizeBytes: 6 }];
  const source = { app: { name: "ccr" }, config, files, kind: "claude-code-router-data-export" };
  const result = importClaudeCodeRouter(JSON.stringify({ ...source, version: 1 }));
  assert(result.ok);
  const { lines } = result.imported;
  const file = result.imported.file ?? "";
  assertEquals(checkImported(result.imported).problems, []);
  assert(file.includes("type: messages\n    base_url: https://second.test\n"), file);
  assert(
    file.includes(
      '"*": &default\n    omit_tools: [web_search]\n    early_head: 20s\n    targets:\n',
    ),
  );
  assert(file.includes("- {provider: second, model: s}"), file);
  assert(!file.includes("off.test"));
  const of = (path: string) => lines.find((one) => one.path === path);
  assertEquals(of("config.preferredProvider")?.to, ["models.*.targets"]);
  assertEquals(of("config.Router.fallback.mode")?.status, "missing");
  const rest = lines.filter(({ path }) => /^(?:app|files|kind|version|config\.t)/.test(path));
  assertEquals([...new Set(rest.map(({ status }) => status))], ["no meaning"]);
});

Deno.test("of a list for a route of claude-code-router the first provider that is carried is the target", () => {
  const result = importClaudeCodeRouter(JSON.stringify({
    Providers: [{ name: "a", api_base_url: "https://a.test/v1", models: ["m"] }],
    Router: { default: ["gone,m", "a,m", "a,n"] },
  }));
  assert(result.ok);
  const lines = result.imported.lines.filter(({ path }) => path.startsWith("Router."));
  assertEquals(lines.map(({ to }) => to), [[], ["models.*.targets"], ["models.*.fallback"]]);
});

Deno.test("an empty route of claude-code-router is none, and not missing", () => {
  const result = importClaudeCodeRouter(JSON.stringify({
    PROXY_URL: "",
    CUSTOM_ROUTER_PATH: "",
    strange: "",
    Providers: [{ name: "p", api_base_url: "https://p.example.com/v1", models: ["m"] }],
    Router: { default: "p,m", background: "", think: "", image: "" },
  }));
  assert(result.ok);
  const { file, lines } = result.imported;
  assert(!file?.includes("*haiku*"), file ?? "");
  const missing = lines.filter(({ status }) => status === "missing").map(({ path }) => path);
  assertEquals(missing, ["strange"]);
  const empty = lines.filter(({ note }) => note === "empty").map(({ path }) => path);
  assertEquals(
    empty,
    ["PROXY_URL", "CUSTOM_ROUTER_PATH", "Router.background", "Router.think", "Router.image"],
  );
});

Deno.test("a timeout of 0 is none: the usual one holds", () => {
  const { statuses, file } = reported(
    {
      model_list: [{ model_name: "a", litellm_params: { model: "openai/m", timeout: 0 } }],
      router_settings: { timeout: 30 },
    },
    "model_list[0].litellm_params.timeout",
  );
  assertEquals(statuses, [["missing", "a value that is not understood"]]);
  assert(file.includes("timeout: 30s"), file);
});

Deno.test("a fallback of the name auto, and one that no name needs, are reported where they are", () => {
  const open = { model_name: "auto", litellm_params: { model: "openai/m" } };
  const path = "router_settings.default_fallbacks[0]";
  for (
    const [model_list, default_fallbacks, to] of [
      [[open], ["auto"], ["models.auto.targets"]],
      [[open, FAST], ["fast"], ["models"]],
      [[open, FAST, LONG], ["long"], ["models"]],
      [[FAST, LONG], ["long"], ["models"]],
    ] as const
  ) {
    const source = { model_list, router_settings: { default_fallbacks } };
    const result = importLitellm(JSON.stringify(source), {});
    assert(result.ok);
    assertEquals(result.imported.lines.find((one) => one.path === path)?.to, to);
  }
});

Deno.test("a number with an exponent is a text without a dot and a sign, as for LiteLLM's parser", () => {
  const result = importLitellm(
    "model_list:\n" +
      ["1e3", "2.5e4", "0x1e3", "1.5e+3"].map((name) =>
        `  - {model_name: ${name}, litellm_params: {model: openai/m, temperature: 1e-1}}\n`
      ).join(""),
    {},
  );
  assert(result.ok);
  const { file } = result.imported;
  const names = [...(file ?? "").matchAll(/^ {2}"?([\w.+]+)"?:\n {4}targets/gm)];
  assertEquals(names.map(([, name]) => name), ["1e3", "2.5e4", "483", "1500"]);
  assert(file?.includes("temperature: 0.1"), file ?? "");
});

Deno.test("the words y and n are texts, as a key, a name and a value", () => {
  const result = importLitellm(
    "model_list:\n  - model_name: y\n    litellm_params: {model: openai/m, n: 2, stop: [N]}\n",
    {},
  );
  assert(result.ok);
  const { file, lines } = result.imported;
  assert(/^ {2}"?y"?:$/m.test(file ?? ""), file ?? "");
  assert(/stop: \[?"?N/.test((file ?? "").replace(/stop:\s+- /, "stop: ")), file ?? "");
  assert(lines.some(({ path }) => path === "model_list[0].litellm_params.n"));
});

Deno.test("the variable of a literal key is that of its provider alone, and of no other host", () => {
  const addresses = {
    openrouter: "https://openrouter.ai/api/v1/chat/completions",
    deepseek: "https://api.deepseek.com/chat/completions",
    openai: "https://proxy.example.com/v1/chat/completions",
    Cerebras: "https://proxy.example.com/v1/chat/completions",
    together: "https://proxy.example.com/v1/chat/completions",
    sambanova: "https://api.sambanova.ai/v1/chat/completions",
  };
  const Providers = Object.entries(addresses).map(([name, api_base_url]) => {
    return { name, api_base_url, api_key: "sk-xxx", models: ["m"] };
  });
  const Router = { default: "openai,m" };
  const result = importClaudeCodeRouter(JSON.stringify({ Providers, Router }));
  assert(result.ok);
  assertEquals(result.imported.variables, [
    "DEEPSEEK_API_KEY",
    "IMPORTED_CEREBRAS_API_KEY",
    "IMPORTED_OPENAI_API_KEY",
    "IMPORTED_TOGETHER_API_KEY",
    "OPENROUTER_API_KEY",
    "SAMBANOVA_API_KEY",
  ]);
});
