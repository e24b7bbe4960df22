import { assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withProvider, withSection } from "./parse.ts";

/** Asserts what is wrong with one line in a provider; places are as in `withProvider`. */
function assertProblem(id: string, line: string, expected: string): void {
  assertEquals(problemsOf(withProvider(id, line)), [expected], line);
}

Deno.test("a provider with a custom ID needs a type, and a base URL unless its type is messages", () => {
  assertEquals(problemsOf(withProvider("mine", "api_key: k")), [
    "providers.mine.type: is required: compat, messages or local (known for openai, anthropic and ollama) (line 2, column 3)",
  ]);
  for (const type of ["compat", "local"]) {
    const text =
      `is required: no address is known for this ID with type ${type} (line 2, column 3)`;
    assertProblem("mine", `type: ${type}`, `providers.mine.base_url: ${text}`);
  }
  assertProblem(
    "openai",
    "type: local",
    "providers.openai.base_url: is required: no address is known for this ID with type local (line 2, column 3)",
  );
});

Deno.test("a value of the wrong type is reported with line and column", () => {
  const cases: Record<string, string> = {
    "type: gemini": "type: must be compat, messages or local (line 3, column 11)",
    "api_key: 0x10": "api_key: must be text; put it in quotes (line 3, column 14)",
    "api_key: [a]": "api_key: must be text (line 3, column 14)",
    "api_key:": "api_key: has no value; add a value or remove the key (line 3, column 13)",
    'api_key: "a\\nb"':
      "api_key: must be one line of printable ASCII characters (line 3, column 14)",
    "default_model: ' '": "default_model: must not be blank (line 3, column 20)",
    "temperature: hot": "temperature: must be a number (line 3, column 18)",
    "temperature: -1": "temperature: must be at least 0 (line 3, column 18)",
    "temperature: .inf": "temperature: must be a number (line 3, column 18)",
    "top_p: 1.1": "top_p: must be at most 1 (line 3, column 12)",
    "timeout: 30": "timeout: must be a duration with a unit, such as 30s (line 3, column 14)",
    "timeout: 30 s":
      "timeout: must be a duration made of h, m, s and ms in this order, such as 30s or 1h30m (line 3, column 14)",
    "first_content_timeout: 0s":
      "first_content_timeout: must be longer than 0s (line 3, column 28)",
    "timeout: 0s": "timeout: must be longer than 0s (line 3, column 14)",
    "timeout: 1000000000000000h":
      "timeout: must be a duration made of h, m, s and ms in this order, such as 30s or 1h30m (line 3, column 14)",
    "stream_idle_timeout: 0ms": "stream_idle_timeout: must be longer than 0s (line 3, column 26)",
    "max_concurrent: 0": "max_concurrent: must be at least 1 (line 3, column 21)",
    "max_concurrent: 1.5": "max_concurrent: must be a whole number (line 3, column 21)",
    "max_queued: -1": "max_queued: must be at least 0 (line 3, column 17)",
    "max_queued: many": "max_queued: must be a number (line 3, column 17)",
    "queue_timeout: 0s": "queue_timeout: must be longer than 0s (line 3, column 20)",
    "queue_timeout: 30":
      "queue_timeout: must be a duration with a unit, such as 30s (line 3, column 20)",
    "system_messages: first": "system_messages: must be in_place or leading (line 3, column 22)",
    "timeout_mode: first": "timeout_mode: must be ttft, total or last_byte (line 3, column 19)",
    "compatibility_profile: [deepseek]": "compatibility_profile: must be text (line 3, column 28)",
    "api_version: {}": "api_version: must be text (line 3, column 18)",
    "extra: {a: [b]}": "extra.a: must be text (line 3, column 16)",
    "models: {static: m}": "models.static: must be a list (line 3, column 22)",
    "normalize_developer_role: 1":
      "normalize_developer_role: must be true or false (line 3, column 31)",
    "extract_reasoning_tags: yes":
      "extract_reasoning_tags: must be true or false (line 3, column 29)",
    "headers: []": "headers: must be a mapping (line 3, column 14)",
    "headers: {X-A: 1.0}": "headers.X-A: must be text; put it in quotes (line 3, column 20)",
    "models: {mode: all}": "models.mode: must be translator, static or fetch (line 3, column 20)",
    "models: {mode: fetch, fetch: {ttl: 0s}}":
      "models.fetch.ttl: must be longer than 0s (line 3, column 40)",
    "capabilities: {embeddings_base64: 2}":
      "capabilities.embeddings_base64: must be true or false (line 3, column 39)",
    "capabilities: {reasoning_effort_levels: high}":
      "capabilities.reasoning_effort_levels: must be a list (line 3, column 45)",
  };
  for (const [line, problem] of Object.entries(cases)) {
    assertProblem("openai", line, `providers.openai.${problem}`);
  }
  assertProblem(
    "ollama",
    "top_k: 1.5",
    "providers.ollama.top_k: must be a whole number (line 3, column 12)",
  );
});

Deno.test("an address is absolute, http or https, without a fragment", () => {
  const absolute = "must be an absolute URL that begins with http:// or https://";
  const bare = "must not contain a fragment";
  const cases: Record<string, string> = {
    "api.example.com": absolute,
    "/v1": absolute,
    "ftp://example.com": absolute,
    "'http://'": absolute,
    "'https://example.com/v1#part'": bare,
    "'https://example.com/v1?a=b#part'": bare,
  };
  for (const [url, text] of Object.entries(cases)) {
    assertProblem(
      "openai",
      `base_url: ${url}`,
      `providers.openai.base_url: ${text} (line 3, column 15)`,
    );
  }
  assertEquals(problemsOf(withProvider("openai", "base_url: http://user:pass@[::1]:1/v1/")), []);
});

Deno.test("an address may have a query, and the path before it is checked as ever", () => {
  for (const url of ["https://a/v1?api-version=1&b", "'https://a/v1?'", "https://a?x=/v1"]) {
    assertEquals(problemsOf(withProvider("openai", `base_url: ${url}`)), [], url);
  }
  assertEquals(problemsOf(withProvider("ollama", "base_url: http://a?x=/v1")), []);
  assertProblem(
    "ollama",
    "base_url: http://a/v1/?x=y",
    "providers.ollama.base_url: ends in /v1, where the runtime serves the other API; " +
      "remove /v1, or use type compat (line 3, column 15)",
  );
});

Deno.test("organization and api_version must be header values only at the type that sends them", () => {
  const problem = "must be a header value: one line of Latin-1 characters (line 3, column 19)";
  const sent = { openai: "organization", anthropic: "api_version " } as const;
  for (const [id, key] of Object.entries(sent)) {
    const name = key.trim();
    assertProblem(id, `${key}: "a\\n"`, `providers.${id}.${name}: ${problem}`);
    const others = ["openai", "anthropic", "ollama"].filter((one) => one !== id);
    for (const other of others) {
      assertEquals(problemsOf(withProvider(other, `${name}: "a\\n"`)), [], `${other} ${name}`);
    }
  }
});

Deno.test("the newer Messages version takes no sampling defaults", () => {
  const keys = ["api_version: 2026-10-21", "temperature: 1", "top_p: 1"];
  const text = "is not supported by api_version 2026-10-21; remove one of the two";
  assertEquals(problemsOf(withProvider("anthropic", ...keys)), [
    `providers.anthropic.temperature: ${text} (line 4, column 5)`,
    `providers.anthropic.top_p: ${text} (line 5, column 5)`,
  ]);
  assertEquals(problemsOf(withProvider("anthropic", "api_version: 2026-10-21")), []);
  assertEquals(problemsOf(withProvider("anthropic", "temperature: 1")), []);
});

Deno.test("a temperature above 1 is a problem of type messages only", () => {
  for (const written of ["1.5", '"${TEMPERATURE:-1.5}"']) {
    assertProblem(
      "anthropic",
      `temperature: ${written}`,
      "providers.anthropic.temperature: must be at most 1 for type messages (line 3, column 18)",
    );
  }
  for (const id of ["openai", "ollama"]) {
    assertEquals(problemsOf(withProvider(id, "temperature: 1.5")), []);
  }
});

Deno.test("a messages provider with both temperature and top_p is warned about", () => {
  const both = ["temperature: 1", "top_p: 0.9"];
  assertEquals(warningsOf(withProvider("anthropic", ...both)), [
    "providers.anthropic.top_p: is refused together with temperature by many models of type messages; " +
    "remove one of them (line 4, column 5)",
  ]);
  for (const one of both) assertEquals(warningsOf(withProvider("anthropic", one)), []);
  assertEquals(warningsOf(withProvider("openai", ...both)), []);
});

Deno.test("static headers exclude connection headers and duplicates", () => {
  for (
    const name of [
      "Host",
      "content-length",
      "Transfer-Encoding",
      "connection",
      "Expect",
      "Accept-Encoding",
    ]
  ) {
    const text = "is set by the gateway and cannot be configured (line 3, column 16)";
    assertProblem(
      "openai",
      `headers: { ${name}: x }`,
      `providers.openai.headers.${name}: ${text}`,
    );
  }
  assertProblem(
    "openai",
    "headers: {X-A: b, x-a: c}",
    "providers.openai.headers.x-a: is set twice; header names are not case-sensitive (line 3, column 23)",
  );
  assertProblem(
    "openai",
    "headers: {'X A': b}",
    "providers.openai.headers.(key): is not a valid header name (line 3, column 15)",
  );
  assertProblem(
    "openai",
    'headers: {X-A: "b\\r\\nc"}',
    "providers.openai.headers.X-A: must be a header value: one line of Latin-1 characters (line 3, column 20)",
  );
});

Deno.test("pass_headers names no header that never comes from a provider", () => {
  for (const name of ["Set-Cookie", "connection", "X-Gateway-Route", "content-length", "alt-svc"]) {
    const text = "is never passed on from a provider (line 3, column 25)";
    assertProblem(
      "openai",
      `pass_headers: [x-a, ${name}]`,
      `providers.openai.pass_headers[1]: ${text}`,
    );
  }
  const config = configOf(withProvider("openai", "pass_headers: [X-Team-Quota]"));
  assertEquals(config.providers.openai?.pass_headers, ["x-team-quota"]);
});

Deno.test("at least one provider is needed", () => {
  const text = "providers: {}\nrouting: {routes: [{name: a, targets: [{provider: b}]}]}\n";
  assertEquals(problemsOf(text), [
    "providers: must contain at least one provider (line 1, column 12)",
    "routing.routes[0].targets[0].provider: is not a configured provider (line 2, column 51)",
  ]);
});

Deno.test("an unknown key is refused, with the likely one", () => {
  const hint = (key: string) => `is not a known key; did you mean "${key}"?`;
  assertProblem(
    "openai",
    "apiKey: k",
    `providers.openai.apiKey: ${hint("api_key")} (line 3, column 5)`,
  );
  assertProblem(
    "openai",
    "timeuot: 1s",
    `providers.openai.timeuot: ${hint("timeout")} (line 3, column 5)`,
  );
  assertProblem(
    "openai",
    "colour: red",
    "providers.openai.colour: is not a known key (line 3, column 5)",
  );
  assertEquals(problemsOf(withSection("severs: {}", "server: {prot: 1}")), [
    `severs: ${hint("server")} (line 1, column 1)`,
    `server.prot: ${hint("port")} (line 2, column 10)`,
  ]);
});
