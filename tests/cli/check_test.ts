import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { newSigningKey, tokenSecurity } from "../support/token_issuer.ts";
import { configFile, ran } from "./test_terminal.ts";

const FILE = `
providers:
  openai:
    api_key: \${KEY}
    default_model: gpt-4o
    capabilities: {embeddings_base64: true, adaptive_thinking: true}
  mine:
    type: compat
    base_url: https://user:pa55word@models.example/v1
    headers: {x-secret: header-secret}
    timeout: 90s
    timeout_mode: total
routing:
  routes:
    - name: teams
      match: {path: /v1/chat/*, headers: {x-team: header-secret}, models: ["gpt-*", claude]}
      targets:
        - {provider: openai, model: gpt-4o, weight: 2}
        - {provider: mine, model: small}
        - {provider: mine, weight: 0}
      fallback: [{provider: openai}]
`;

/** Refusals of a compat target without capabilities for chat clients, and for responses besides. */
const OFF = [
  "chat_completions_lifecycle (refuses list, read, change and delete stored completions)",
  "responses_lifecycle (refuses read and delete responses that the provider stores)",
  "conversations (refuses conversations that the provider stores)",
  "response_cancellation (refuses cancel a response)",
  "response_compaction (refuses POST /v1/responses/compact)",
  "response_input_tokens (refuses POST /v1/responses/input_tokens)",
].map((line) => `              off: ${line}`);
const BASE64 =
  "              off: embeddings_base64 (refuses embeddings with encoding_format base64, " +
  "the default of the OpenAI SDKs)";
const MESSAGES = [
  "structured_outputs (refuses output_config.format of Messages requests)",
  "reasoning_effort (refuses output_config.effort of Messages requests)",
].map((line) => `              off: ${line}`);
const FAMILIES = "completions, moderations, images, audio, files, batches, rerank";
const RELAY_OFF = `              off: relay (refuses ${FAMILIES})`;
const RELAY = `              relay: ${FAMILIES}`;
const BACKGROUND = "              off: background_responses (refuses background: true)";

Deno.test("check says of a route whose targets all name a model what to write to serve every model", async () => {
  const route = (target: string, match = "") =>
    `providers: {openai: {api_key: k, default_model: gpt-4o}}
routing: {routes: [{name: main, ${match}targets: [{provider: openai${target}}]}]}
`;
  const line = "leave out 'model' at a target and set 'default_model' at its provider";
  for (
    const [text, isNamed] of [
      [route(", model: gpt-4o"), true],
      [route(""), false],
      [route(", model: gpt-4o", "match: {models: [gpt-4o]}, "), false],
    ] as const
  ) {
    using file = await configFile(text);
    const { out } = await ran(["check", "--config", file.path]);
    assertEquals(out.includes(line), isNamed);
  }
});

Deno.test("check says of a weighted route with several targets of one provider type that conversations change their target", async () => {
  for (
    const [strategy, targets, isNamed] of [
      ["weighted", "{provider: a}, {provider: b}", true],
      ["weighted", "{provider: a, model: x}, {provider: a, model: y}", true],
      ["sticky", "{provider: a}, {provider: b}", false],
      ["least-pending", "{provider: a}, {provider: b}", false],
      ["weighted", "{provider: a}, {provider: b, weight: 0}", false],
      ["weighted", "{provider: a}, {provider: ollama}", false],
    ] as const
  ) {
    using file = await configFile(`
providers: {a: {type: compat, base_url: "http://a"}, b: {type: compat, base_url: "http://b"}, ollama: {}}
routing: {routes: [{name: main, strategy: ${strategy}, targets: [${targets}]}]}
`);
    const { out } = await ran(["check", "--config", file.path]);
    assertEquals(out.includes("conversations change their target"), isNamed, targets);
  }
});

Deno.test("explain prints the limit of concurrent attempts of a target", async () => {
  const cases = {
    "max_concurrent: 2": "at most 2 at once, none queued",
    "max_concurrent: 3, max_queued: 20": "at most 3 at once, 20 queued up to 30s",
    "max_concurrent: 1, max_queued: 1, queue_timeout: 90s":
      "at most 1 at once, 1 queued up to 1m30s",
  };
  for (const [settings, text] of Object.entries(cases)) {
    using file = await configFile(`
providers: {up: {type: compat, base_url: "https://models.example", ${settings}}}
routing: {routes: [{name: r, targets: [{provider: up, model: m}]}]}
`);
    for (const words of [["check"], ["explain", "--model", "m"]]) {
      const { out } = await ran([...words, "--config", file.path], {});
      assertStringIncludes(out, `up/m: compat at models.example, 2m to the first byte, ${text}\n`);
    }
  }
});

Deno.test("check prints a valid file as a table of routes, targets and capabilities", async () => {
  using file = await configFile(FILE);
  const { code, out, err } = await ran(["check", "--config", file.path], { KEY: "sk-secret" });
  assertEquals([code, err], [0, ""]);
  assertEquals(out.split("\n").slice(1), [
    "Warning: providers.openai.capabilities.adaptive_thinking: has no effect for type compat; " +
    "only type messages uses it (line 6, column 45)",
    "Warning: routing.routes[0].fallback: is not tried while the stream of a target has no content: " +
    "set first_content_timeout of its provider above what gateway_time_to_first_token_seconds shows " +
    "(line 21, column 7)",
    "Listens on 127.0.0.1, port 8080.",
    "",
    "Route teams: path /v1/chat/…, header x-team, model gpt-*, claude",
    "  strategy weighted",
    "  conversations change their target, so the provider's prompt cache is hardly used; " +
    "'strategy: sticky' keeps each at one target",
    "  66.7%       openai/gpt-4o: compat at api.openai.com, 2m to the first byte",
    "              accepts: every chat field, embeddings; custom tools: as functions",
    "              on: embeddings_base64",
    RELAY,
    ...OFF,
    ...MESSAGES,
    "  33.3%       mine/small: compat at models.example, 1m30s in all",
    "              accepts: every chat field, embeddings; custom tools: as functions",
    ...OFF,
    BASE64,
    ...MESSAGES,
    RELAY_OFF,
    "  drained     mine (requested model): compat at models.example, 1m30s in all",
    "              accepts: every chat field, embeddings; custom tools: as functions",
    ...OFF,
    BASE64,
    ...MESSAGES,
    RELAY_OFF,
    "  fallback 1  openai (requested model, else gpt-4o): compat at api.openai.com, " +
    "2m to the first byte",
    "              accepts: every chat field, embeddings; custom tools: as functions",
    "              on: embeddings_base64",
    RELAY,
    ...OFF,
    ...MESSAGES,
    "",
  ]);
});

Deno.test("check prints the number of workers if there are several", async () => {
  for (
    const [workers, line] of [["3", "with 3 workers"], ["auto", "with one worker for each core"]]
  ) {
    using file = await configFile(`
server: {workers: ${workers}}
state: {store: none}
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai}]}]}
`);
    const { code, out } = await ran(["check", "--config", file.path]);
    assertEquals(code, 0);
    assertMatch(out, new RegExp(`^Listens on 127\\.0\\.0\\.1, port 8080, ${line}\\.$`, "m"));
  }
});

Deno.test("check marks a target that receives Responses requests", async () => {
  using file = await configFile(`
providers:
  openai: {api_key: k, capabilities: {responses_lifecycle: true, hosted_tools: [web_search]}}
routing:
  routes:
    - name: all
      targets: [{provider: openai, upstream_request_type: responses}]
`);
  const { code, out, err } = await ran(["check", "--config", file.path]);
  assertEquals([code, err], [0, ""]);
  assertEquals(out.split("\n").slice(5), [
    "  100%        openai (requested model): compat, Responses API at api.openai.com, " +
    "2m to the first byte",
    "              accepts: every Responses field, chat, embeddings; custom tools: native",
    "              on: responses_lifecycle",
    "              hosted_tools: web_search",
    RELAY,
    ...[OFF[0] ?? "", OFF[2] ?? "", BACKGROUND, ...OFF.slice(3), BASE64, ...MESSAGES],
    "              verifies: stop",
    "",
  ]);
});

Deno.test("check lists only the capabilities that the provider type uses", async () => {
  using file = await configFile(`
providers:
  anthropic: {api_key: k, capabilities: {reasoning_effort: true, reasoning_effort_levels: [low]}}
  ollama: {capabilities: {structured_outputs: true}}
routing:
  routes: [{name: all, targets: [{provider: anthropic}, {provider: ollama}]}]
`);
  const { out } = await ran(["check", "--config", file.path]);
  assertEquals(out.split("\n").filter((line) => line.startsWith(" ".repeat(14))), [
    "              accepts: chat; no embeddings; custom tools: as functions",
    "              on: reasoning_effort",
    "              reasoning_effort_levels: low",
    "              off: structured_outputs (refuses response_format json_schema)",
    "              off: adaptive_thinking (refuses thinking of type adaptive)",
    "              verifies: json_object, stop",
    "              accepts: chat, embeddings; custom tools: as functions",
    "              on: structured_outputs",
    "              off: reasoning_effort (refuses reasoning_effort)",
    "              verifies: strict, tool_choice, parallel_tool_calls, json_object, json_schema",
  ]);
});

Deno.test("a target whose provider declares every capability has no line about refusals", async () => {
  using file = await configFile(`
providers:
  openai:
    api_key: k
    capabilities:
      chat_completions_lifecycle: true
      responses_lifecycle: true
      conversations: true
      background_responses: true
      response_cancellation: true
      response_compaction: true
      response_input_tokens: true
      embeddings_base64: true
      structured_outputs: true
      reasoning_effort: true
      hosted_tools: [web_search]
  anthropic:
    api_key: k
    capabilities: {structured_outputs: true, reasoning_effort: true, adaptive_thinking: true}
  ollama: {capabilities: {structured_outputs: true, reasoning_effort: true}}
routing:
  routes:
    - name: all
      targets:
        - {provider: openai, upstream_request_type: responses}
        - {provider: openai}
        - {provider: anthropic}
        - {provider: ollama}
`);
  const { code, out } = await ran(["check", "--config", file.path]);
  assertEquals([code, out.includes("off:"), out.includes("refuses")], [0, false, false]);
});

Deno.test("explain prints that a target refuses hosted tools only if its type could support them", async () => {
  for (const [type, isThere] of [["responses", true], ["chat_completions", false]] as const) {
    using file = await configFile(`
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai, upstream_request_type: ${type}}]}]}
`);
    const { out } = await ran(["check", "--config", file.path]);
    assertEquals(out.includes("off: hosted_tools (refuses tools that the provider runs"), isThere);
  }
});

Deno.test("explain prints that a target verifies nothing because of its setting", async () => {
  using file = await configFile(`
providers: {ollama: {verify: false}}
routing: {routes: [{name: all, targets: [{provider: ollama, model: m}]}]}
`);
  const text = "verifies: nothing, because verify is false";
  assertStringIncludes((await ran(["check", "--config", file.path])).out, text);
  const explained = await ran(["explain", "--config", file.path, "--model", "m"]);
  assertStringIncludes(explained.out, text);
});

Deno.test("no key, header value or URL credential is printed", async () => {
  using file = await configFile(FILE);
  const { out } = await ran(["check", "--config", file.path], { KEY: "sk-secret" });
  for (const secret of ["sk-secret", "header-secret", "pa55word", "user"]) {
    assert(!out.includes(secret), secret);
  }
});

Deno.test("warnings are printed and do not make a file invalid", async () => {
  using file = await configFile(FILE);
  const { code, out } = await ran(["check", "--config", file.path]);
  assertEquals(code, 0);
  assertStringIncludes(out, "Warning: providers.openai.api_key: the variable KEY is not set");
});

Deno.test("every problem of a broken file is a line on stderr", async () => {
  const broken = FILE.replace("timeout: 90s", "timeout: 90").replace("base64: true", "base64: 1");
  using file = await configFile(broken);
  const { code, out, err } = await ran(["check", "--config", file.path], { KEY: "k" });
  assertEquals([code, out], [1, ""]);
  const lines = err.trimEnd().split("\n");
  assertEquals(lines.map((line) => line.split(":")[0]), [
    "providers.openai.capabilities.embeddings_base64",
    "providers.mine.timeout",
  ]);
});

Deno.test("check names a file that does not exist", async () => {
  const { code, err } = await ran(["check", "--config", "/nowhere/x.yaml"]);
  assertEquals(code, 1);
  assertEquals(err, "The configuration file /nowhere/x.yaml does not exist.\n");
});

Deno.test("a key without effect is named by a warning, and its value is not", async () => {
  using file = await configFile(
    FILE.replace(
      "timeout: 90s",
      "organization: o\n    api_version: marker\n    extra: {a: marker}",
    ),
  );
  const { code, out, err } = await ran(["check", "--config", file.path], { KEY: "k" });
  assertEquals([code, err], [0, ""]);
  assertEquals(out.split("\n").filter((line) => line.includes("providers.mine")), [
    "Warning: providers.mine.api_version: has no effect for type compat; only type messages uses it " +
    "(line 12, column 5)",
    "Warning: providers.mine.extra.a: has no effect: max_tokens is the only extra setting that " +
    "type compat uses (line 13, column 13)",
  ]);
  assert(!out.includes("marker"), out);
});

Deno.test("check refuses a file of an issuer without a usable key, and says why", async () => {
  const key = await newSigningKey("k1");
  const named = async (keys: unknown) => {
    using keyFile = await configFile(JSON.stringify({ keys }));
    using file = await configFile(
      tokenSecurity({ jwks_url: undefined as never, jwks_file: keyFile.path }) +
        "providers: {openai: {api_key: k}}\n" +
        "routing: {routes: [{name: all, targets: [{provider: openai}]}]}\n",
    );
    const { code, err } = await ran(["check", "--config", file.path]);
    return [code, err];
  };
  assertEquals(await named([key.publicJwk]), [0, ""]);
  const unusable = [[], [{ kty: "oct", k: "c2VjcmV0" }], [key.publicJwk, key.publicJwk]];
  for (const keys of unusable) {
    assertEquals(await named(keys), [1, "The jwks_file of issuer corp has no usable key.\n"]);
  }
  assertEquals(await named(Array(101).fill(key.publicJwk)), [
    1,
    "The jwks_file of issuer corp has more than 100 keys.\n",
  ]);
});

Deno.test("the query of an address is not printed", async () => {
  using file = await configFile(FILE.replace("example/v1", "example/v1?api-version=query-secret"));
  const { code, out } = await ran(["check", "--config", file.path], { KEY: "k" });
  assertEquals(code, 0);
  assertStringIncludes(out, "compat at models.example,");
  assert(!out.includes("query-secret") && !out.includes("api-version"), out);
});

Deno.test("a key that goes to another machine without encryption is named by check", async () => {
  const text = (scheme: string) =>
    `providers: {up: {type: compat, base_url: "${scheme}://10.0.0.7/v1", api_key: k}}\n` +
    "routing: {routes: [{name: r, targets: [{provider: up}]}]}\n";
  using plain = await configFile(text("http"));
  const printed = await ran(["check", "--config", plain.path]);
  assertEquals(printed.code, 0);
  assertStringIncludes(printed.out, "Warning: providers.up.base_url: is not encrypted");
  using secure = await configFile(text("https"));
  const untold = await ran(["check", "--config", secure.path]);
  assert(!untold.out.includes("Warning"), untold.out);
});

Deno.test("check says what is recorded of each key, group, named model and route that chooses", async () => {
  using file = await configFile(`
providers: {openai: {api_key: k}}
models: {fast: {record: heads, targets: [{provider: openai, model: m}]}}
routing:
  routes: [{name: main, record: none, targets: [{provider: openai}]}]
security:
  enabled: true
  api_key: {keys: [{name: ci, value: k, record: all}, {name: other, value: o}]}
  groups: [{name: team, keys: [ci], record: never}]
state: {encryption_keys: ["${new Uint8Array(32).toBase64()}"]}
record: {enabled: true}
`);
  const { code, out } = await ran(["check", "--config", file.path]);
  assertEquals(code, 0);
  assertStringIncludes(
    out,
    "all of key ci, never of group team, heads of model fast, none of route main, " +
      "none of all other calls.",
  );
});

Deno.test("check prints where spans go and which providers have another name there, and no credential", async () => {
  using file = await configFile(`
providers:
  mine: {type: compat, base_url: "https://r.openai.azure.com/openai/v1"}
  vllm: {type: compat, base_url: "http://127.0.0.1:8000/v1"}
  other: {type: messages, base_url: "https://proxy.example.com"}
routing:
  routes: [{name: r, targets: [{provider: mine}, {provider: vllm}, {provider: other}]}]
telemetry: {provider_names: {vllm: groq}}
`);
  const checked = async (environment: Record<string, string>) =>
    (await ran(["check", "--config", file.path], environment)).out;
  const address = "http://user:pa55word@collector:4318/?key=hidden";
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address };
  const out = await checked(own);
  assertStringIncludes(
    out,
    "\nSends spans to http://collector:4318/, mine as azure.ai.openai, vllm as groq, " +
      "other as anthropic.\n",
  );
  assert(!/pa55word|hidden/.test(out));
  assertStringIncludes(
    await checked({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" }),
    "\nSends spans to http://collector:4318/v1/traces, mine as",
  );
  const switched: readonly Record<string, string>[] = [
    {},
    { ...own, OTEL_SDK_DISABLED: "true" },
    { ...own, OTEL_TRACES_EXPORTER: "none" },
  ];
  for (const off of switched) {
    assert(!(await checked(off)).includes("spans"));
  }
});

Deno.test("check warns of a collector on another machine without encryption", async () => {
  using file = await configFile(`
providers: {mine: {type: compat, base_url: "http://127.0.0.1:8000/v1"}}
routing: {routes: [{name: r, targets: [{provider: mine}]}]}
`);
  const addresses = {
    "http://collector:4318": true,
    "http://10.0.0.7:4318": true,
    "https://collector:4318": false,
    "http://127.0.0.1:4318": false,
    "http://[::1]:4318": false,
    "http://localhost:4318": false,
  };
  for (const [address, isOpen] of Object.entries(addresses)) {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: address };
    const { out } = await ran(["check", "--config", file.path], environment);
    assertEquals(/^Warning: .* spans is not encrypted/m.test(out), isOpen, address);
  }
});

Deno.test("check escapes what a terminal would act on in a model, which may come from an imported file", async () => {
  using file = await configFile(`
providers: {p: {type: compat, base_url: "http://127.0.0.1:1/v1"}}
models: {coder: {targets: [{provider: p, model: "m\\e[31m\\nRoute forged"}]}}
routing: {routes: [{name: main, targets: [{provider: p}]}]}
`);
  const { code, out } = await ran(["check", "--config", file.path]);
  assertEquals(code, 0, out);
  assertStringIncludes(out, "p/m\\u001b[31m\\u000aRoute forged: compat");
});
