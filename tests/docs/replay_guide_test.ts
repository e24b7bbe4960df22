import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { ran, testClient, whileServing } from "../cli/test_terminal.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { blocksIn, variable } from "./pages.ts";
import { commandsOf } from "./shell.ts";

const PAGE = "docs/guide/replay.md";

/** The blocks of the page in a language, in their order. */
function blocks(language: string): readonly string[] {
  return blocksIn(language).filter(({ place }) => place.startsWith(PAGE)).map(({ text }) => text);
}

const ENVIRONMENT = Object.fromEntries(
  ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "STATE_KEY"].map((name) => [name, variable(name)]),
);

/** Returns a configuration of the page with the simulator as its providers. */
function simulatedConfig(text: string, folder: string, port: number): string {
  const base = `http://127.0.0.1:${port}`;
  return text.replace("  anthropic:\n", `  anthropic:\n    base_url: ${base}/messages\n`)
    .replace("  openai:\n", `  openai:\n    base_url: ${base}/compat/v1\n`)
    .replace("/var/lib/switchyard", folder);
}

const CALLS = [
  ["/v1/chat/completions", {
    messages: [{ role: "user", content: "Hi." }],
    logit_bias: { "5": 1 },
  }],
  ["/v1/chat/completions", { messages: [{ role: "user", content: "a secret question" }] }],
  ["/v1/messages", {
    max_tokens: 100,
    messages: [
      { role: "user", content: "Look." },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: {} }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t1", content: "no", is_error: true }],
      },
    ],
    tools: [{ name: "look", input_schema: { type: "object" } }],
  }],
] as const;

/** Replaces what differs from run to run. */
function steady(text: string): string {
  return text.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
    .replace(/\d\d:\d\d:\d\d/g, "TIME");
}

Deno.test("the story of the replay guide happens as it is written", async () => {
  const folder = await Deno.makeTempDir();
  const upstream = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    newSimulator(newRealWorld()),
  );
  const names = ["config.yaml", "new.yaml", "simple.yaml"];
  for (const [index, text] of blocks("yaml").entries()) {
    const config = simulatedConfig(text, folder, upstream.addr.port);
    await Deno.writeTextFile(`${folder}/${names[index]}`, config);
  }
  const config = `${folder}/config.yaml`;
  await Deno.copyFile(config, `${folder}/old.yaml`);

  /** Runs a command of the page; its output goes where the page sends it. */
  async function follow(words: readonly string[]) {
    const [program, ...rest] = words;
    assertEquals(program, "switchyard");
    const into = rest.indexOf(">");
    const args = (into < 0 ? rest : rest.slice(0, into))
      .map((word) => /\.(yaml|jsonl|json)$/.test(word) ? `${folder}/${word}` : word);
    if (!args.includes("--config")) args.push("--config", config);
    const result = await ran(args, ENVIRONMENT);
    if (into >= 0) await Deno.writeTextFile(`${folder}/${rest[into + 1]}`, result.out);
    return { ...result, args };
  }

  try {
    const served = await whileServing(["--config", config, "--port", "0"], async (terminal) => {
      const [, url = ""] = await terminal.printed(/listens on (http:\S+)/);
      using client = testClient();
      for (const [path, body] of CALLS) {
        const response = await client.fetch(`${url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ model: "auto", ...body }),
        });
        await response.text();
      }
    }, ENVIRONMENT);
    assertEquals(served.code, 0, served.err);

    const [refused, exported, accepted, simple, job] = blocks("bash").flatMap(commandsOf)
      .map(({ words }) => words);
    assert(refused && exported && accepted && simple && job);
    const log = await follow(refused);
    assertEquals([log.code, log.out.trimEnd().split("\n").length], [0, 2], log.err);
    assertStringIncludes(log.out, "refused");
    assertEquals((await follow(exported)).code, 0);

    const [answer = "", loss = ""] = blocks("text");
    const served1 = await follow(accepted);
    assertEquals([served1.code, steady(served1.out)], [0, answer]);
    const lost = await follow(simple);
    assertEquals(lost.code, 1);
    assertStringIncludes(steady(lost.out), loss);

    const checked = await follow(job);
    assertEquals([checked.code, checked.out], [0, ""], checked.err);
    assertMatch(checked.args.join(" "), /--out \S+\/report\.json/);
  } finally {
    await upstream.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
});
