import { Ajv2020, type AnySchema } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { SCHEMA_FILE, STARTERS } from "../../src/cli/init.ts";
import { run } from "../../src/cli/run.ts";
import { parseConfig } from "../../src/config/load.ts";
import { parseJson } from "../../src/core/json/json.ts";
import { HOSTS } from "../../src/data/hosts.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { configFile, ran, testTerminal } from "./test_terminal.ts";

/** A configuration with its commented lines in force. */
function uncommented(text: string): string {
  return text.replace(/^( *)# ?((?: *)(?:- |[a-z_0-9]+:(?: |$)))/gm, "$1$2");
}

for (const kind of Object.keys(STARTERS)) {
  Deno.test(`the file that init ${kind} writes passes the check, whatever is set`, async () => {
    const { code, out } = await ran(["init", kind, "--print"]);
    assertEquals(code, 0);
    using file = await configFile(out);
    assertEquals((await ran(["check", "--config", file.path])).code, 0);
    const variables = { OPENAI_API_KEY: "sk-a", ANTHROPIC_API_KEY: "sk-b" };
    const loaded = parseConfig(out, variables);
    assert(loaded.ok, JSON.stringify(loaded));
    assertEquals(loaded.warnings, []);
  });
}

/** Providers of each starter, also those that are commented out. */
const DECLARED = {
  laptop: ["ollama", "openai", "anthropic"],
  edge: ["ollama", "openai"],
  team: ["openai", "anthropic"],
} as const;

for (const [kind, hosts] of Object.entries(DECLARED)) {
  Deno.test(`the starter file ${kind} declares the capabilities of its providers`, async () => {
    const { out } = await ran(["init", kind, "--print"]);
    const loaded = parseConfig(uncommented(out), { SWITCHYARD_CLIENT_KEY: "sy-a" });
    assert(loaded.ok, JSON.stringify(loaded));
    for (const host of hosts) {
      const declared = { ...loaded.config.providers[host]?.capabilities };
      assertEquals<unknown>(declared, { ...declared, ...HOSTS[host].capabilities });
    }
    using file = await configFile(out);
    const lines = (await ran(["check", "--config", file.path])).out.split("\n");
    // Conversations of OpenAI would take those of the other providers from the gateway.
    const off = new Set(lines.filter((line) => line.includes("off: ")).map((line) => line.trim()));
    const conversations = "off: conversations (refuses conversations that the provider stores)";
    assertEquals([...off], kind === "edge" ? [] : [conversations]);
  });
}

Deno.test("the commented-out parts of a starter file are valid when enabled", async () => {
  const { out } = await ran(["init", "edge", "--print"]);
  const loaded = parseConfig(uncommented(out), {
    OPENAI_API_KEY: "sk-a",
    SWITCHYARD_CLIENT_KEY: "sy-a",
  });
  assert(loaded.ok, JSON.stringify(loaded));
  assertEquals(loaded.config.security.enabled, true);
  assertEquals(loaded.config.routing.routes[0]?.fallback.length, 1);
});

Deno.test("with the starter file laptop a local model is served locally, whatever its name", async () => {
  using file = await configFile((await ran(["init", "laptop", "--print"])).out);
  const served = {
    "llama3.2": "ollama/llama3.2",
    "orca-mini": "ollama/orca-mini",
    "olmo-2:7b": "ollama/olmo-2:7b",
    "gpt-oss:20b": "ollama/gpt-oss:20b",
    "ollama/nomic-embed-text": "ollama/nomic-embed-text",
    "ollama/o1-open": "ollama/o1-open",
    "gpt-4o-mini": "openai/gpt-4o-mini",
    "o3": "openai/o3",
    "o4-mini": "openai/o4-mini",
    "openai/text-embedding-3-small": "openai/text-embedding-3-small",
    "claude-haiku-4-5": "anthropic/claude-haiku-4-5",
  };
  for (const [model, target] of Object.entries(served)) {
    const { code, out } = await ran(["explain", "--config", file.path, "--model", model]);
    assertEquals(code, 0);
    assertStringIncludes(out, `100%   ${target}: `);
  }
});

Deno.test("the starter file laptop leaves the hosted web search out on every route of chats, and sends early heads", async () => {
  const loaded = parseConfig((await ran(["init", "laptop", "--print"])).out, {});
  assert(loaded.ok);
  const chats = loaded.config.routing.routes.filter(({ name }) => name !== "embeddings");
  assert(chats.length > 3);
  assertEquals(chats.filter(({ omit_tools: [type] }) => type !== "web_search"), []);
  assertEquals(chats.filter(({ early_head }) => early_head !== 20_000), []);
});

Deno.test("init writes ./config.yaml and never overwrites a file", async () => {
  const terminal = testTerminal();
  assertEquals(await run(["init", "laptop"], terminal), 0);
  const written = terminal.files.get("./config.yaml") ?? "";
  assert(parseConfig(written, {}).ok);
  assertEquals(await run(["init", "edge"], terminal), 1);
  assertEquals(terminal.files.get("./config.yaml"), written);
  assertMatch(terminal.written.err, /^\.\/config\.yaml exists already; /);
});

Deno.test("init writes the schema next to the file, whose first line names it for editors", async () => {
  const terminal = testTerminal();
  assertEquals(await run(["init", "team"], terminal), 0);
  const [first = ""] = (terminal.files.get("./config.yaml") ?? "").split("\n");
  assertEquals(first, `# yaml-language-server: $schema=${SCHEMA_FILE}`);
  assertEquals(terminal.files.get(`./${SCHEMA_FILE}`), (await ran(["schema"])).out);
  assertStringIncludes(terminal.written.out, `the schema in ./${SCHEMA_FILE}.\n`);
});

Deno.test("init leaves a schema that is there, and says how to print the present one", async () => {
  const terminal = testTerminal();
  terminal.files.set(`./${SCHEMA_FILE}`, "{}");
  assertEquals(await run(["init", "edge"], terminal), 0);
  assertEquals(terminal.files.get(`./${SCHEMA_FILE}`), "{}");
  assertStringIncludes(terminal.written.out, 'exists already; "switchyard schema" prints it.\n');
});

Deno.test("the file that init writes of each kind is valid by the schema next to it, a misspelt key is not", async () => {
  const schema = parseJson((await ran(["schema"])).out);
  const validate = new Ajv2020({ strict: false }).compile(schema as AnySchema);
  for (const kind of Object.keys(STARTERS)) {
    const { out } = await ran(["init", kind, "--print"]);
    assert(validate(parse(out)), `${kind}: ${JSON.stringify(validate.errors)}`);
    assertEquals(validate(parse(out.replace("\nrouting:", "\nroutng:"))), false, kind);
  }
});

Deno.test("init writes a different client key for each team", async () => {
  const keys = new Set<string>();
  for (let count = 0; count < 2; count++) {
    const { out } = await ran(["init", "team", "--print"]);
    keys.add(/value: "(sy-[0-9a-f]{32})"/.exec(out)?.[1] ?? "");
  }
  assertEquals([keys.size, keys.has("")], [2, false]);
});

Deno.test("init without a known kind lists the kinds", async () => {
  const none = await ran(["init"]);
  assertEquals([none.code, none.out], [2, ""]);
  assertMatch(none.err, /^Name a starter file: laptop, edge, team\. /);
  const slip = await ran(["init", "labtop"]);
  assertMatch(slip.err, /did you mean laptop\? See /);
  const other = await ran(["init", "nope"]);
  assertMatch(other.err, /"nope"; there are laptop, edge, team\. See /);
  const many = await ran(["init", "edge", "team"]);
  assertEquals([many.code, many.err.startsWith('"team" is one argument too many.')], [2, true]);
});
