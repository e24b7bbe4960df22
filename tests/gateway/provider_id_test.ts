import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { createApp } from "../../src/server/app.ts";
import { configOf, problemsOf, warningsOf, withProvider } from "../config/parse.ts";
import { samplesNamed } from "../observe/exposition.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const ID = `Very.long_-${"x0".repeat(400)}`;
const FILE = withProvider(ID, "type: compat", "base_url: http://up", "default_model: m");

Deno.test("a provider ID may have any length; a key beyond what YAML takes bare has a question mark", () => {
  const huge = "a".repeat(100_000);
  const file = FILE.replace(`  ${ID}:\n`, `  ? ${huge}\n  :\n`).replace(ID, huge);
  assertEquals(Object.keys(configOf(file).providers), [huge]);
  assertEquals(problemsOf(FILE), []);
  for (const id of ["-a", ".a", "_a", "a/b", "a b", "ä"]) {
    assertEquals(problemsOf(FILE.replaceAll(ID, `"${id}"`)).length > 0, true, id);
  }
});

Deno.test("a message about a provider with a long ID shows its beginning and the error", () => {
  const path = `providers.${ID.slice(0, 128)}….`;
  assertEquals(warningsOf(FILE.replace("default_model: m", "top_k: 1")), [
    `${path}top_k: has no effect for type compat; only type local uses it (line 5, column 5)`,
  ]);
  assertEquals(problemsOf(FILE.replace("default_model: m", "timeout: 1")), [
    `${path}timeout: must be a duration with a unit, such as 30s (line 5, column 14)`,
  ]);
});

Deno.test("a provider with a long ID is served and named like any other", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const { app, log } = testGateway(FILE, world);
  const named = [
    chatRequest({ body: { model: `${ID}/m` } }),
    chatRequest({ headers: { "x-gateway-provider": ID } }),
  ];
  for (const request of named) {
    const { status, headers } = await got(await app(request));
    assertEquals([status, headers.get("x-gateway-provider")], [200, ID.slice(0, 256)]);
  }
  const models = await got(await app(new Request("http://localhost/v1/models")));
  assertEquals(JSON.parse(models.text).data[0].id, `${ID}/m`);
  const { text } = await got(await app(new Request("http://localhost/metrics")));
  const labels = `{provider="${ID}",outcome="success"}`;
  assertEquals(samplesNamed(text, "gateway_upstream_attempts_total"), { [labels]: 2 });
  for (const line of log) {
    assert(line.length < 4_000, line);
    assert(JSON.parse(line).msg !== "");
  }
});

Deno.test("two providers whose long IDs differ at their ends stay apart", async () => {
  const text = `
providers:
  ${ID}1: {type: compat, base_url: "http://one"}
  ${ID}2: {type: compat, base_url: "http://two"}
routing:
  routes: [{name: main, targets: [{provider: ${ID}1}, {provider: ${ID}2}]}]
`;
  const asked: string[] = [];
  const world = scriptedWorld({
    fetch(url) {
      asked.push(new URL(url).host);
      return answers(200, COMPLETION);
    },
  });
  const app = createApp(newGateway(compile(configOf(text), 1), world, []));
  for (const end of [2, 1]) {
    await got(await app(chatRequest({ headers: { "x-gateway-provider": `${ID}${end}` } })));
  }
  assertEquals(asked, ["two", "one"]);
});
