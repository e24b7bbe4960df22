import { run } from "../../src/cli/run.ts";
import { ANTHROPIC_MODELS } from "../../src/data/known_models.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { importClaudeCodeRouter } from "../../src/import/claude_code_router.ts";
import { blocks, sourceIn } from "../docs/pages.ts";
import { streamOf } from "../support/pieces.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { configFile, testClient, testTerminal } from "../cli/test_terminal.ts";

const KEY = "sk-of-the-clients-0123456789";

/** The sections with the commands of a move, and the names that clients request. */
const MOVES = [
  { section: "docs/guide/moving.md#From LiteLLM", from: "litellm", names: ["fast", "smart"] },
  {
    section: "docs/guide/moving.md#From claude-code-router",
    from: "claude-code-router",
    names: ["auto", ...ANTHROPIC_MODELS],
  },
];

for (const { section, from, names } of MOVES) {
  Deno.test(`the commands of the page lead to a gateway with the names of the source: ${section}`, async () => {
    const environment = {
      OPENAI_API_KEY: "k",
      GROQ_API_KEY: "k",
      ANTHROPIC_API_KEY: "k",
      DEEPSEEK_API_KEY: "k",
      LITELLM_MASTER_KEY: KEY,
      ROUTER_KEY: KEY,
    };
    using source = await configFile(sourceIn(section));
    const importing = testTerminal();
    assertEquals(await run(["import", from, source.path, "--output", "config.yaml"], importing), 0);
    const written = importing.files.get("config.yaml") ?? "";
    const shown = blocks.find((block) => block.section === section && block.language === "text");
    assertStringIncludes(written, shown?.text.trimEnd() ?? "missing");
    const report = blocks.filter((block) => block.section === "docs/guide/moving.md#The report");
    if (from === "litellm") {
      for (const line of report[0]?.text.trimEnd().split("\n") ?? [""]) {
        assertStringIncludes(importing.written.err, line);
      }
    }
    using config = await configFile(written);
    assertEquals(await run(["check", "--config", config.path], testTerminal(environment)), 0);
    for (const name of names) {
      const explained = testTerminal(environment);
      assertEquals(await run(["explain", "--config", config.path, "--model", name], explained), 0);
      assertStringIncludes(explained.written.out, `model:${name}`);
    }
    const terminal = testTerminal(environment);
    const running = run(["--config", config.path, "--port", "0"], terminal);
    const [, url = ""] = await terminal.printed(/listens on (http:\S+?)[.,]?\s/);
    using client = testClient();
    const listed = await client.fetch(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    const { data } = await listed.json();
    const ids = data.map(({ id }: { readonly id: string }) => id);
    // LiteLLM lists the names alone; others would be listed and refused.
    const models = [
      "deepseek/deepseek-chat",
      "deepseek/deepseek-reasoner",
      "ollama/qwen2.5-coder:7b",
    ];
    assertEquals(ids, from === "litellm" ? names : [...names, ...models]);
    const refused = await client.fetch(`${url}/v1/models`);
    assertEquals(refused.status, 401);
    await refused.body?.cancel();
    terminal.end();
    await running;
  });
}

Deno.test("an agent's main and small model go to the targets of the router's file, and so does each listed name", async () => {
  const result = importClaudeCodeRouter(sourceIn("docs/guide/moving.md#From claude-code-router"));
  assert(result.ok && result.imported.file !== null);
  const file = result.imported.file.replaceAll(/\$\{\w+\}/g, KEY);
  const sent: string[] = [];
  const completion = {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  await using gateway = socketGateway(file, {
    async fetch(url, { body = null }) {
      const { model } = await new Response(body).json();
      sent.push(`${url} ${model}`);
      const response = Response.json(completion);
      return new Response(streamOf([await response.bytes()]), response);
    },
  });
  using client = testClient();
  for (const model of ["claude-opus-4-6", "claude-haiku-4-5", "ollama/other"]) {
    const response = await client.fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": KEY, "content-type": "application/json" },
      body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: "user", content: "Hi." }] }),
    });
    assertEquals(response.status, 200, await response.text());
  }
  const { data } = await (await client.fetch(`${gateway.url}/v1/models`, {
    headers: { "x-api-key": KEY },
  })).json();
  for (const { id } of data) {
    const response = await client.fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "x-api-key": KEY, "content-type": "application/json" },
      body: JSON.stringify({ model: id, messages: [{ role: "user", content: "Hi." }] }),
    });
    assertEquals([id, response.status], [id, 200], await response.text());
  }
  const main = "https://api.deepseek.com/chat/completions deepseek-chat";
  const small = "http://127.0.0.1:11434/v1/chat/completions qwen2.5-coder:7b";
  assertEquals(sent.splice(3), [
    ...["auto", ...ANTHROPIC_MODELS].map((name) => name.includes("haiku") ? small : main),
    ...[main, main.replace(/chat$/, "reasoner"), small],
  ]);
  assertEquals(sent, [
    "https://api.deepseek.com/chat/completions deepseek-chat",
    "http://127.0.0.1:11434/v1/chat/completions qwen2.5-coder:7b",
    "http://127.0.0.1:11434/v1/chat/completions other",
  ]);
});
