import { explainQuery } from "../../src/admin/queries.ts";
import { REQUEST_FORMS } from "../../src/cli/request_forms.ts";
import { compile } from "../../src/gateway/compile.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { scriptedWorld } from "../support/world.ts";
import { configFile, ran } from "./test_terminal.ts";

const FILE = `
providers:
  openai: {api_key: k, default_model: gpt-4o}
  anthropic: {api_key: k}
routing:
  routes:
    - name: teams
      match: {path: /v1/chat/, headers: {x-team: blue}}
      targets:
        - {provider: openai, model: gpt-4o, weight: 3}
        - {provider: anthropic}
        - {provider: openai, weight: 0}
      fallback: [{provider: anthropic, model: claude-haiku-4-5}, {provider: openai}]
    - name: rest
      strategy: round-robin
      targets: [{provider: openai}, {provider: anthropic}]
`;

async function explained(...args: readonly string[]) {
  using file = await configFile(FILE);
  return await ran(["explain", "--config", file.path, ...args]);
}

Deno.test("explain shows a Responses target for chat, Responses and embeddings", async () => {
  using file = await configFile(`
providers: {openai: {api_key: k}}
routing:
  routes:
    - name: all
      targets: [{provider: openai, upstream_request_type: responses}]
`);
  for (const path of ["/v1/chat/completions", "/v1/responses", "/v1/embeddings"]) {
    const { code, out } = await ran(
      ["explain", "--config", file.path, "--model", "m", "--path", path],
    );
    assertEquals(code, 0, out);
    assertStringIncludes(out, "100%   openai/m: compat, Responses API at api.openai.com");
  }
});

Deno.test("a request of the Messages API is explained with its own request type", async () => {
  using file = await configFile(`
providers: {openai: {api_key: k}, anthropic: {api_key: k}}
routing:
  routes:
    - {name: own, match: {path: /v1/messages}, targets: [{provider: anthropic}]}
    - {name: rest, targets: [{provider: openai}]}
`);
  const { code, out } = await ran(
    ["explain", "--config", file.path, "--model", "claude-x", "--path", "/v1/messages"],
  );
  assertEquals(code, 0, out);
  assertStringIncludes(out, "Request: /v1/messages (messages), model claude-x");
  assertStringIncludes(out, "Route own: serves the request");
});

Deno.test("a count of tokens is explained by the providers that can count", async () => {
  using file = await configFile(`
providers:
  local: {type: local, base_url: "http://127.0.0.1:1"}
  anthropic: {api_key: k}
  counting: {type: compat, base_url: "http://x/v1", capabilities: {response_input_tokens: true}}
routing:
  routes:
    - {name: own, match: {models: [small]}, targets: [{provider: local}]}
    - name: rest
      targets:
        - {provider: local}
        - {provider: counting}
        - {provider: counting, upstream_request_type: responses}
        - {provider: anthropic}
`);
  const explain = (model: string) =>
    ran(
      ["explain", "--config", file.path, "--model", model, "--path", "/v1/messages/count_tokens"],
    );
  const small = await explain("small");
  assertEquals(small.code, 1, small.out);
  assertStringIncludes(small.out, "local/small skipped: This provider cannot count tokens");
  const { code, out } = await explain("m");
  assertEquals(code, 0, out);
  assertEquals(out.match(/cannot count tokens/g)?.length, 2, out);
  assertStringIncludes(out, "50%    anthropic/m:");
  assertStringIncludes(out, "50%    counting/m: compat, Responses API");
});

Deno.test("a request of the Messages API that only a route of Chat takes is explained by it", async () => {
  using file = await configFile(`
providers: {openai: {api_key: k}}
routing:
  routes: [{name: chat, match: {path: /v1/chat}, targets: [{provider: openai}]}]
`);
  const { out } = await ran(
    ["explain", "--config", file.path, "--model", "m", "--path", "/v1/messages"],
  );
  assertStringIncludes(out, "Request: /v1/messages (chat_completions)");
  assertStringIncludes(out, "Route chat: serves the request");
});

Deno.test("explain prints the route, the shares of its targets and the order of its fallbacks", async () => {
  const { code, out } = await explained("--model", "gpt-4o", "--header", "X-Team=blue");
  assertEquals(code, 0);
  assertEquals(out.trimEnd().split("\n"), [
    "Request: /v1/chat/completions (chat_completions), model gpt-4o, provider left to the route",
    "Route teams: serves the request",
    "  Targets, weighted:",
    "    75%    openai/gpt-4o: compat at api.openai.com, 2m to the first byte",
    "    25%    anthropic/gpt-4o: messages at api.anthropic.com, 2m to the first byte; verifies: json_object, stop",
    "    -      openai/gpt-4o skipped: its weight is 0",
    "  Fallbacks, in order:",
    "    1.     anthropic/claude-haiku-4-5: messages at api.anthropic.com, 2m to the first byte; verifies: json_object, stop",
    "    2.     openai/gpt-4o: compat at api.openai.com, 2m to the first byte",
    "  Candidates, in order, until one responds:",
    "    1.     the target that the strategy picks: openai/gpt-4o or anthropic/gpt-4o",
    "    2.     the other target",
    "    3.     anthropic/claude-haiku-4-5",
    "    4.     openai/gpt-4o",
    "    5.     those that were silent, with the retries that they have left",
    "  After a prompt that is too long for openai/gpt-4o, skipped: openai/gpt-4o (the same model), anthropic/gpt-4o (the same model)",
    "  After a prompt that is too long for anthropic/gpt-4o, skipped: openai/gpt-4o (the same model)",
    "Route rest: skipped, route teams comes first",
  ]);
});

Deno.test("a requested provider and model skip targets and limit the fallbacks", async () => {
  const { code, out } = await explained("--model=anthropic/claude-x", "--header=x-team=blue");
  assertEquals(code, 0);
  assertEquals(out.trimEnd().split("\n").slice(2, -1), [
    "  Targets, weighted:",
    "    -      openai/gpt-4o skipped: another provider is requested",
    "    100%   anthropic/claude-x: messages at api.anthropic.com, 2m to the first byte; verifies: json_object, stop",
    "    -      openai/claude-x skipped: its weight is 0",
    "  Fallbacks, in order:",
    "    1.     anthropic/claude-haiku-4-5: messages at api.anthropic.com, 2m to the first byte; verifies: json_object, stop",
    "    -      openai/claude-x skipped: another provider is requested",
    "  The requested provider limits the fallbacks to it.",
    "  Candidates, in order, until one responds:",
    "    1.     anthropic/claude-x",
    "    2.     anthropic/claude-haiku-4-5",
    "    3.     those that were silent, with the retries that they have left",
  ]);
  assertEquals(
    (await explained("--model=claude-x", "--provider=anthropic", "--header=x-team=blue")).out,
    out,
  );
});

Deno.test("a target that serves another model is skipped", async () => {
  const { out } = await explained("--model", "gpt-5", "--header", "x-team=blue");
  assertStringIncludes(out, "-      openai/gpt-4o skipped: it serves another model");
});

Deno.test("explain prints the limits of targets, and who is skipped after a prompt that is too long", async () => {
  using file = await configFile(`
providers:
  openai: {api_key: k, first_content_timeout: 20s}
  anthropic: {api_key: k}
routing:
  routes:
    - name: all
      fallback_on: [context_length, content_filter]
      targets: [{provider: openai, model: small, context_size: 8000}]
      fallback:
        - {provider: anthropic, model: same, context_size: 8000, first_content_timeout: 5s}
        - {provider: anthropic, model: open}
        - {provider: openai, model: large, context_size: 16000}
`);
  const { out } = await ran(["explain", "--config", file.path, "--model", "auto"]);
  assertEquals(out.trimEnd().split("\n").slice(2), [
    "  Targets, weighted:",
    "    100%   openai/small: compat at api.openai.com, 2m to the first byte, 20s to the first content, context of 8000 tokens",
    "  Fallbacks, in order:",
    "    1.     anthropic/same: messages at api.anthropic.com, 2m to the first byte, 5s to the first content, context of 8000 tokens; verifies: json_object, stop",
    "    2.     anthropic/open: messages at api.anthropic.com, 2m to the first byte; verifies: json_object, stop",
    "    3.     openai/large: compat at api.openai.com, 2m to the first byte, 20s to the first content, context of 16000 tokens",
    "  Candidates, in order, until one responds:",
    "    1.     openai/small",
    "    2.     anthropic/same",
    "    3.     anthropic/open",
    "    4.     openai/large",
    "  After a prompt that is too long for openai/small, skipped: anthropic/same (it holds 8000 tokens)",
    "  After a prompt that is too long for anthropic/same, skipped: openai/small (it holds 8000 tokens)",
    "  After a prompt that is too long for openai/large, skipped: openai/small (it holds 8000 tokens), anthropic/same (it holds 8000 tokens)",
    "  Only after these failures is another one tried: context_length, content_filter.",
  ]);
});

Deno.test("explain prints why a route does not match, and honours control headers", async () => {
  const plain = await explained("--model", "auto");
  assertStringIncludes(plain.out, "Route teams: skipped, the header x-team does not match");
  assertStringIncludes(plain.out, "100%   openai/gpt-4o: compat");
  assertStringIncludes(
    plain.out,
    "-      anthropic/? skipped: neither the request nor the file names a model",
  );
  const forced = await explained("--model=m", "--header=X-Gateway-Route=rest");
  assertStringIncludes(forced.out, "Route teams: skipped, another route is forced");
  const path = await explained("--model=m", "--path=/v1/embeddings", "--header=x-team=blue");
  assertStringIncludes(path.out, "Route teams: skipped, the path does not begin with");
  assertStringIncludes(path.out, "(embeddings)");
  const alone = await explained(
    "--model=m",
    "--header=x-team=blue",
    "--header=X-Gateway-No-Fallback=true",
  );
  assertStringIncludes(
    alone.out,
    "The X-Gateway-No-Fallback header ends the list after the picked target.",
  );
});

Deno.test("explain of a request that no route serves exits with 1 and suggests near names", async () => {
  const slip = await explained("--model=m", "--provider=opnai");
  assertEquals(slip.code, 1);
  assertStringIncludes(slip.out, "There is no provider opnai; did you mean openai?");
  assertStringIncludes(slip.out, "Refused: no target of the route can serve this request.");
  const route = await explained("--model=m", "--header=X-Gateway-Route=resr");
  assertEquals(route.code, 1);
  assertStringIncludes(route.out, "There is no route resr; did you mean rest?");
  assertStringIncludes(route.out, "Refused: no route matches this request.");
  const twice = await explained("--model=openai/m", "--provider=anthropic");
  assertEquals(twice.code, 1);
  assertStringIncludes(twice.out, "Refused: The X-Gateway-Provider header");
});

Deno.test("an invalid header and a path without a slash are wrong usage", async () => {
  for (const wrong of ["--header=x", "--header=a b=c", "--header=a=b\nc", "--provider=\u2603"]) {
    assertEquals((await explained("--model=m", wrong)).code, 2);
  }
  assertEquals((await explained("--model=m", "--path=v1")).code, 2);
});

Deno.test("a Responses request is explained as chat if no route matches its own type", async () => {
  const path = "--path=/v1/responses";
  const itself = await explained(path, "--model=gpt-4o");
  assertEquals(itself.out.split("\n").slice(0, 3), [
    "Request: /v1/responses (responses), model gpt-4o, provider left to the route",
    "Route teams: skipped, the path does not begin with /v1/chat/",
    "Route rest: serves the request",
  ]);
  const asChat = await explained(
    path,
    "--model=gpt-4o",
    "--header=x-team=blue",
    "--header=x-gateway-route=teams",
  );
  assertEquals(asChat.out.split("\n").slice(0, 2), [
    "Request: /v1/responses (chat_completions), model gpt-4o, provider left to the route",
    "Route teams: serves the request",
  ]);
});

const VECTORS = `
providers:
  anthropic: {api_key: k}
  own: {type: local, base_url: "http://127.0.0.1:9"}
routing:
  routes:
    - name: vectors
      targets: [{provider: anthropic}, {provider: own}]
    - name: rescued
      targets: [{provider: anthropic}]
      fallback: [{provider: anthropic}, {provider: own}]
`;

Deno.test("a provider without embeddings is skipped for an embeddings request", async () => {
  using file = await configFile(VECTORS);
  const args = ["explain", "--config", file.path, "--model=m", "--path=/v1/embeddings"];
  const shared = await ran(args);
  assertEquals(shared.code, 0);
  assertStringIncludes(
    shared.out,
    "-      anthropic/m skipped: The provider has no embeddings",
  );
  assertStringIncludes(shared.out, "100%   own/m: local");
  const rescued = await ran([...args, "--header=X-Gateway-Route=rescued"]);
  assertEquals(rescued.code, 0);
  assertStringIncludes(rescued.out, "1.     own/m: local");
  assertStringIncludes(
    rescued.out,
    "No target can serve the request, so the fallbacks serve it.",
  );
  const alone = await ran([
    ...args,
    "--header=X-Gateway-Route=rescued",
    "--header=X-Gateway-No-Fallback=true",
  ]);
  assertEquals(alone.code, 1);
  assertStringIncludes(alone.out, "Refused: no target of the route can serve this request.");
});

Deno.test("a path whose calls are not routed is refused", async () => {
  for (const path of ["/v1/nonsense", "/v1/models", "/v1/embeddings?x=1"]) {
    const { code, out } = await explained("--model=m", `--path=${path}`);
    assertEquals([code, out], [1, `Refused: calls of ${path} are not routed.\n`]);
  }
});

Deno.test("explain says which provider gets new objects and lists, and where an object goes, without a model", async () => {
  const config = (relays: readonly string[]) => `
providers:
${
    relays.map((relay, at) =>
      `  p${at}: {type: compat, base_url: "http://p${at}", capabilities: {relay: [${relay}]}}`
    ).join("\n")
  }
routing: {routes: [{name: main, targets: [{provider: p0}]}]}
`;
  const explainedFor = async (relays: readonly string[], ...args: readonly string[]) => {
    using file = await configFile(config(relays));
    return await ran(["explain", "--config", file.path, ...args]);
  };
  const one = await explainedFor(["audio", "files"], "--path=/v1/files");
  assertEquals([one.code, one.out], [
    0,
    `Request: /v1/files, for which a provider needs capabilities.relay: [files], provider not named
Provider p0: skipped, it does not declare files
Provider p1: able
New objects and lists go to provider p1.
A request with an ID goes to the provider and key that made the object, if they are known.
`,
  ]);
  const content = await explainedFor(["files"], "--path=/v1/files/file-1/content");
  assertEquals(content.code, 0);
  const two = await explainedFor(["batches", "batches"], "--path=/v1/batches");
  assertEquals(two.code, 1);
  assertStringIncludes(two.out, "name one with the X-Gateway-Provider header");
  const named = await explainedFor(["batches", "batches"], "--path=/v1/batches", "--provider=p1");
  assertEquals(named.code, 0);
  assertStringIncludes(named.out, "New objects and lists go to provider p1.");
  const none = await explainedFor(["audio"], "--path=/v1/uploads");
  assertEquals(none.code, 1);
  assertStringIncludes(none.out, "No provider offers this");
});

Deno.test("a request without a model is explained by its route, and one for auto by the named model auto", async () => {
  const models = "models: {auto: {targets: [{provider: anthropic, model: claude-x}]}}";
  using file = await configFile(`${FILE}${models}\n`);
  const generation = compile(parsedConfig(`${FILE}${models}\n`), 1);
  for (const [model, route] of [["auto", "model:auto"], ["", "rest"]] as const) {
    const { out } = await ran(["explain", "--config", file.path, "--model", model]);
    assertStringIncludes(out, `Route ${route}: serves the request`);
    // The field of the admin page is empty without a model.
    const query = new URLSearchParams({ model });
    const world = scriptedWorld({ fetch: () => Promise.reject(new Error("nothing is sent")) });
    const view = explainQuery(query, { generation, world }, REQUEST_FORMS);
    assert(typeof view !== "string" && view.lines.includes(`Route ${route}: serves the request`));
  }
});
