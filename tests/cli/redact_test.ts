import { oneProvider } from "../support/gateway.ts";
import { privacyConfig } from "../privacy/rules.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { configFile, ran, testTerminal } from "./test_terminal.ts";
import { run } from "../../src/cli/run.ts";

const CONFIG = oneProvider("http://up.test") +
  privacyConfig([
    "find: [email], action: replace",
    "find: [us_ssn], action: mask",
    "words: [kingfisher], action: refuse",
  ]) + `
security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada}]}}
`;

async function redacted(...args: readonly string[]) {
  using file = await configFile(CONFIG);
  return await ran(["redact", "--config", file.path, ...args]);
}

const TEXT = "Mail bob@example.com, 987-65-4321";

Deno.test("redact prints the replaced text and where each value is, never the value", async () => {
  const { code, out } = await redacted("--text", TEXT);
  assertEquals(code, 0);
  assertMatch(
    out,
    /^Mail qz\w{16}email, \[usssn\]\nr0 \(replace\): text, characters 5 to 20, length 15\nr1 \(mask\): text, characters 22 to 33, length 11\nX-Gateway-Redacted: r0=1, r1=1\n$/,
  );
});

/** Returns a request as the command prints it, and as the gateway sends it. */
async function shownAndSent(path: string, fields: object, config = CONFIG) {
  const body = JSON.stringify({ model: "m", ...fields });
  using request = await configFile(body);
  using file = await configFile(config);
  const named = ["--config", file.path, "--file", request.path, "--path", path, "--key", "ada"];
  let sent = "";
  const world = scriptedWorld({
    async fetch(_url, init) {
      sent = await new Response(init.body ?? "").text();
      return new Response("{}", { status: 500 });
    },
  });
  const headers = { authorization: "Bearer key-of-ada", "x-gateway-provider": "up" };
  const url = `http://gateway.test${path}`;
  await testGateway(config, world).app(new Request(url, { method: "POST", body, headers }));
  return {
    shown: (await ran(["redact", ...named])).out,
    sent,
    diff: (await ran(["redact", ...named, "--diff"])).out,
  };
}

Deno.test("redact gives the text of a request that the gateway sends", async () => {
  const messages = [{ role: "user", content: TEXT }];
  const { shown, sent, diff } = await shownAndSent("/v1/chat/completions", { messages });
  assertEquals(shown.split("\n")[0], sent);
  assertMatch(diff, /^messages\[0\]\.content: Mail qz/);
});

Deno.test("redact prints the tokens of what a request continues, as the gateway sends them", async () => {
  const config = CONFIG.replace("api_key: {keys: [{", "api_key: {keys: [{adopt_unknown: true, ")
    .replace(
      /providers:[\s\S]*?(?=\nprivacy:)/,
      `providers:
  up: {type: compat, base_url: "http://up.test", api_key: sk-x, capabilities: {responses_lifecycle: true, conversations: true}}
routing:
  sessions: header
  routes: [{name: main, targets: [{provider: up, upstream_request_type: responses}]}]
`,
    );
  const first = await shownAndSent("/v1/responses", { input: TEXT }, config);
  const [token = "none"] = /qz\w{16}email/.exec(first.sent) ?? [];
  const continuing = [
    ["/v1/responses", { input: TEXT, previous_response_id: "resp_1" }],
    ["/v1/responses", { input: TEXT, conversation: "conv_1" }],
    ["/v1/conversations/conv_1/items", { items: [{ role: "user", content: TEXT }] }],
  ] as const;
  for (const [path, fields] of continuing) {
    const { shown, sent } = await shownAndSent(path, fields, config);
    const [own = "", other] = [shown, sent].map((text) => /qz\w{16}email/.exec(text)?.[0]);
    assert(own !== token, own);
    assertEquals(own, other, JSON.stringify(fields));
  }
});

Deno.test("redact shows no value in the path of another one", async () => {
  using file = await configFile(
    oneProvider("http://up.test") +
      privacyConfig(["find: [email], action: monitor", "find: [us_ssn], action: mask"]),
  );
  using request = await configFile('{"metadata":{"bob@example.com":"987-65-4321"}}');
  const args = ["--config", file.path, "--file", request.path, "--path", "/v1/chat/completions"];
  const { out } = await ran(["redact", ...args]);
  assertStringIncludes(out, "\nr1 (mask): metadata.*, characters 0 to 11, length 11\n");
});

Deno.test("redact names the parts that no rule can read, and refuses a model in a header as the gateway does", async () => {
  const url = `data:image/png;base64,${"QUJD".repeat(30)}`;
  const content = [{ type: "image_url", image_url: { url } }];
  using request = await configFile(JSON.stringify({ messages: [{ role: "user", content }] }));
  const args = ["--file", request.path, "--path", "/v1/chat/completions"];
  const { out } = await redacted(...args);
  assertMatch(
    out,
    /\nunread: messages\[0\]\.content\[0\]\.image_url\.url\nX-Gateway-Redacted: unread=1\n$/,
  );
  const { code, err } = await redacted(...args, "--header", "X-Gateway-Model=bob@example.com");
  assertEquals(code, 1);
  assert(err.includes("X-Gateway-Model") && !err.includes("bob"), err);
});

Deno.test("the query of a path is no part of the endpoint whose request redact shows", async () => {
  using request = await configFile('{"input":"Mail bob@example.com"}');
  const { out } = await redacted("--file", request.path, "--path", "/v1/audio/speech?beta=true");
  assertStringIncludes(out, '{"input":"Mail [email]"}');
});

Deno.test("redact restores the arguments of a tool as JSON", async () => {
  const words = CONFIG.replace("find: [email], action", "words: ['blue \"x\" falcon'], action");
  using file = await configFile(words);
  using request = await configFile(
    JSON.stringify({ messages: [{ content: 'a blue "x" falcon' }] }),
  );
  const shown = (...more: readonly string[]) =>
    ran(["redact", "--config", file.path, "--path", "/v1/chat/completions", ...more]);
  const [token = ""] = /qz[a-z]{16}/.exec((await shown("--file", request.path)).out) ?? [];
  const call = { function: { name: "f", arguments: JSON.stringify({ to: token }) } };
  using answer = await configFile(JSON.stringify({ tool_calls: [call] }));
  const { out } = await shown("--file", answer.path, "--with", request.path);
  const [{ function: { arguments: restored } }] = JSON.parse(out).tool_calls;
  assertEquals(JSON.parse(restored), { to: 'blue "x" falcon' });
});

Deno.test("redact restores a text with the request that it answers", async () => {
  using original = await configFile(TEXT);
  const { out } = await redacted("--text", TEXT);
  const [token = ""] = /qz\w+email/.exec(out) ?? [];
  const answer = `I wrote to ${token}, and ${token.toUpperCase()}.`;
  const restored = await redacted("--text", answer, "--with", original.path);
  assertEquals(restored.out, "I wrote to bob@example.com, and bob@example.com.");
});

Deno.test("redact counts only, and fails on a match with --fail-on-match", async () => {
  const counted = await redacted("--text", TEXT, "--count", "--fail-on-match");
  assertEquals([counted.code, counted.out], [1, "X-Gateway-Redacted: r0=1, r1=1\n"]);
  assertEquals((await redacted("--text", "none", "--fail-on-match")).code, 0);
});

Deno.test("redact reads stdin", async () => {
  using file = await configFile(CONFIG);
  const terminal = testTerminal({}, "a@x.com");
  assertEquals(await run(["redact", "--config", file.path, "--file", "-", "--count"], terminal), 0);
  assertEquals(terminal.written.out, "X-Gateway-Redacted: r0=1\n");
});

Deno.test("redact says why a request is refused, without the value", async () => {
  const { code, err } = await redacted("--text", "a Kingfisher");
  assertEquals(code, 1);
  assertStringIncludes(err, "'text' has a value that the privacy rule 'r2' refuses");
  assert(!err.includes("Kingfisher"));
});

Deno.test("redact needs one text, a known key and a known policy", async () => {
  assertEquals((await redacted()).code, 2);
  assertStringIncludes((await redacted("--text", "a", "--key", "bob")).err, "no client key bob");
  assertStringIncludes((await redacted("--text", "a", "--policy", "x")).err, "no privacy policy x");
});

Deno.test("explain prints the policies and rules of a request", async () => {
  using file = await configFile(CONFIG);
  const { out } = await ran(["explain", "--config", file.path, "--model", "m", "--key", "ada"]);
  assertStringIncludes(
    out,
    "Privacy: policies p\n  rules: r0 (replace), r1 (mask), r2 (refuse)\n",
  );
});
