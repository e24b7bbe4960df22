import { type AgentPlace, AGENTS, unknownModel } from "../../src/cli/agents.ts";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { findInPath } from "../../scripts/tools/find_in_path.ts";
import { configFile, ran } from "./test_terminal.ts";

const URL = ["--url", "http://gw:9000/v1/", "--model", "a/b", "--small-model", "it's $small"];

/** Whole output of the command for a gateway at another machine. */
const PRINTED: Readonly<Record<string, string>> = {
  claude: `export ANTHROPIC_BASE_URL=http://gw:9000
export ANTHROPIC_AUTH_TOKEN="$SWITCHYARD_KEY"
export ANTHROPIC_MODEL=a/b
export ANTHROPIC_DEFAULT_OPUS_MODEL=a/b
export ANTHROPIC_DEFAULT_SONNET_MODEL=a/b
export ANTHROPIC_DEFAULT_HAIKU_MODEL='it'\\''s $small'
export CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1
`,
  codex: `model = "a/b"
model_provider = "switchyard"
web_search = "disabled"

[model_providers.switchyard]
name = "Switchyard"
base_url = "http://gw:9000/v1"
wire_api = "responses"
env_key = "SWITCHYARD_KEY"
supports_websockets = true
`,
  opencode:
    `export OPENCODE_CONFIG_CONTENT='{"provider":{"switchyard":{"npm":"@ai-sdk/openai-compatible",\
"name":"Switchyard","options":{"baseURL":"http://gw:9000/v1","apiKey":"{env:SWITCHYARD_KEY}"},"models":{"a/b":\
{"name":"a/b","tool_call":true,"reasoning":false},"it'\\''s $small":{"name":"it'\\''s $small","tool_call":true,\
"reasoning":false}}}},"model":"switchyard/a/b","small_model":"switchyard/it'\\''s $small"}'
`,
  pi: `{
  "providers": {
    "switchyard": {
      "baseUrl": "http://gw:9000/v1",
      "api": "openai-responses",
      "apiKey": "SWITCHYARD_KEY",
      "models": [
        {
          "id": "a/b",
          "reasoning": false
        },
        {
          "id": "it's $small",
          "reasoning": false
        }
      ]
    }
  }
}
`,
  qwen: `export OPENAI_BASE_URL=http://gw:9000/v1
export OPENAI_API_KEY="$SWITCHYARD_KEY"
export OPENAI_MODEL=a/b
`,
  cline: `cline auth -p openai-compatible -k "$SWITCHYARD_KEY" -m a/b -b http://gw:9000/v1
`,
  aider: `export OPENAI_API_BASE=http://gw:9000/v1
export OPENAI_API_KEY="$SWITCHYARD_KEY"
export AIDER_MODEL=openai/a/b
export AIDER_WEAK_MODEL='openai/it'\\''s $small'
`,
};

for (const name of Object.keys(AGENTS)) {
  Deno.test(`agent ${name} prints its settings, and the name of the key's variable`, async () => {
    const { code, out, err } = await ran(["agent", name, ...URL], { SWITCHYARD_KEY: "sk-secret" });
    assertEquals([code, out, err], [0, PRINTED[name], ""]);
  });
}

Deno.test("agent codex sets the usual verbosity for the names of Codex's own models alone", async () => {
  for (
    const [model, expected] of [
      ["gpt-5.6-sol", 1],
      ["openai/gpt-5.6-sol", 1],
      ["codex-auto-review", 1],
      ["coder", 0],
      ["my-gpt-5.6-sol", 0],
      ["a/b/gpt-5.6-sol", 0],
    ] as const
  ) {
    const { out } = await ran(["agent", "codex", "--url", "http://gw", "--model", model]);
    const [head = ""] = out.split("[model_providers");
    assertEquals(head.split('model_verbosity = "medium"\n').length - 1, expected, model);
  }
});

Deno.test("agent pi and agent opencode say that the model thinks only if the user says so", async () => {
  for (const name of ["pi", "opencode"]) {
    const { out } = await ran(["agent", name, ...URL, "--reasoning"]);
    assert(/"reasoning": ?true/.test(out) && !/"reasoning": ?false/.test(out), out);
  }
});

const FILE = `
server: {host: 0.0.0.0, port: 9123}
providers: {p: {type: compat, base_url: "http://up/v1"}}
routing: {routes: [{name: main, targets: [{provider: p}]}]}
`;

Deno.test("the address and whether a key is needed come from the file", async () => {
  using open = await configFile(FILE);
  const free = await ran(["agent", "qwen", "--model", "m", "--config", open.path]);
  assertStringIncludes(free.out, "http://127.0.0.1:9123/v1");
  assertStringIncludes(free.out, "export OPENAI_API_KEY=unused");
  using closed = await configFile(`${FILE}
security: {enabled: true, api_key: {keys: [{name: a, value: sk-secret}]}}
`);
  const args = ["agent", "qwen", "--model", "m", "--config", closed.path];
  const kept = await ran(args);
  assertStringIncludes(kept.out, 'export OPENAI_API_KEY="$SWITCHYARD_KEY"');
  assert(!kept.out.includes("sk-secret"));
  const named = await ran([...args, "--key-env", "MY_KEY"]);
  assertStringIncludes(named.out, 'export OPENAI_API_KEY="$MY_KEY"');
});

const NAMED = `${FILE}
models:
  "any-*": {targets: [{provider: p}]}
  coder:
    display_name: Coder
    context_size: 200000
    max_output: 32000
    targets: [{provider: p, model: m}]
  small: {targets: [{provider: p, model: s}]}
`;

Deno.test("the first named model of the file is the usual model, with its limits and its name", async () => {
  using file = await configFile(NAMED);
  const printed = async (...args: readonly string[]) =>
    (await ran(["agent", ...args, "--config", file.path], {}, BUNDLED)).out;
  const claude = await printed("claude", "--small-model", "small");
  assertStringIncludes(claude, "export ANTHROPIC_MODEL=coder\n");
  assertStringIncludes(claude, "export CLAUDE_CODE_MAX_CONTEXT_TOKENS=200000\n");
  assertStringIncludes(claude, "export CLAUDE_CODE_MAX_OUTPUT_TOKENS=32000\n");
  const small = await printed("claude", "--model", "small");
  assert(!small.includes("CLAUDE_CODE_MAX"), small);
  const opencode = await printed("opencode", "--small-model", "small");
  assertStringIncludes(
    opencode,
    '"coder":{"name":"Coder","tool_call":true,"reasoning":false,"limit":{"context":200000,"output":32000}}',
  );
  assertStringIncludes(opencode, '"small":{"name":"small","tool_call":true,"reasoning":false}');
  const codex = await printed("codex");
  assert(
    codex.indexOf("model_context_window = 200000\n") < codex.indexOf("[model_providers"),
    codex,
  );
  assertStringIncludes(codex, "model_context_window = 200000\n");
  assert(!(await printed("codex", "--model", "small")).includes("model_context_window"));
  const pi = parseJson(await printed("pi", "--small-model", "small"));
  assert(isObject(pi) && isObject(pi.providers) && isObject(pi.providers.switchyard));
  assertEquals(pi.providers.switchyard.models, [
    { id: "coder", name: "Coder", reasoning: false, contextWindow: 200_000, maxTokens: 32_000 },
    { id: "small", reasoning: false },
  ]);
  const catalog = parseJson(await printed("codex", "--catalog", "--model", "small"));
  assert(isObject(catalog) && Array.isArray(catalog.models));
  const entries = catalog.models.map((entry) =>
    isObject(entry) ? [entry.slug, entry.display_name, entry.context_window, entry.priority] : []
  );
  assertEquals(entries, [["small", "small", undefined, 1], ["coder", "Coder", 200_000, 2]]);
});

Deno.test("without models of the command line small tasks get the named model with haiku in its name", async () => {
  using file = await configFile(
    `${NAMED}  claude-haiku-4-5: {targets: [{provider: p, model: s}]}\n`,
  );
  const printed = async (...args: readonly string[]) =>
    (await ran(["agent", "claude", ...args, "--config", file.path])).out;
  const small = (text: string) => /^export ANTHROPIC_DEFAULT_HAIKU_MODEL=(.*)$/m.exec(text)?.[1];
  assertEquals(small(await printed()), "claude-haiku-4-5");
  assertStringIncludes(await printed(), "export ANTHROPIC_MODEL=coder\n");
  assertEquals(small(await printed("--model", "coder")), "coder");
  assertEquals(small(await printed("--small-model", "small")), "small");
});

Deno.test("with --url a file that is named has the models of the gateway and says whether it needs a key", async () => {
  using file = await configFile(NAMED);
  const { out } = await ran(["agent", "claude", "--url", "https://gw/", "--config", file.path]);
  assertStringIncludes(out, "export ANTHROPIC_BASE_URL=https://gw\n");
  assertStringIncludes(out, "export ANTHROPIC_AUTH_TOKEN=unused\n");
  assertStringIncludes(out, "export CLAUDE_CODE_MAX_CONTEXT_TOKENS=200000\n");
});

Deno.test("without a name the agents are listed; a wrong one is named with what there is", async () => {
  const listed = await ran(["agent"]);
  assertEquals(listed.out.split("\n").map((line) => line.split(" ")[0]), [
    ...Object.keys(AGENTS),
    "",
  ]);
  for (
    const [args, expected] of [
      [["gemini"], "gemini-cli has only the Gemini API"],
      [["cluade", "--model", "m"], "did you mean claude?"],
      [["claude"], "--model is missing, and there is no file whose models: names one"],
      [["claude", "--model", "m", "--catalog"], "--catalog is for codex."],
      [["claude", "--model", ""], "--model must not be empty."],
      [["claude", ...URL, "--key-env", "$(id)"], "--key-env must be the name of"],
      [["claude", ...URL, "--key-env", "my-key"], "--key-env must be the name of"],
      [["claude", "--model", "m", "--url", "gw:9000"], "--url must be an http or https URL."],
    ] as const
  ) {
    const { code, out, err } = await ran(["agent", ...args]);
    assertEquals([code, out], [2, ""]);
    assertStringIncludes(err, expected);
  }
  const lacking = await ran(["agent", "claude", "--model", "m", "--config", "/nonexistent.yaml"]);
  assertEquals([lacking.code, lacking.out], [1, ""]);
  assertStringIncludes(lacking.err, "--url names the address");
});

/** A list such as `codex debug models --bundled` prints, whose first entry has no plain tools. */
const BUNDLED = JSON.stringify({
  models: [
    { slug: "first", tool_mode: "code_mode_only", base_instructions: "No." },
    {
      slug: "second",
      base_instructions: "Codex's own.",
      comp_hash: "1",
      upgrade: { model: "x" },
      supports_search_tool: true,
      truncation_policy: { mode: "tokens", limit: 1 },
    },
  ],
});

Deno.test("the catalog for Codex has the model in an entry that Codex has bundled", async () => {
  const args = ["agent", "codex", "--catalog", "--model", "coder"];
  const { code, out, err } = await ran(args, {}, BUNDLED);
  assertEquals([code, err], [0, ""]);
  const catalog = parseJson(out);
  assert(isObject(catalog) && Array.isArray(catalog.models) && catalog.models.length === 1);
  const [entry] = catalog.models;
  assert(isObject(entry));
  const { slug, base_instructions, upgrade, apply_patch_tool_type, comp_hash } = entry;
  assertEquals([slug, base_instructions, upgrade, apply_patch_tool_type, comp_hash], [
    "coder",
    "Codex's own.",
    null,
    "freeform",
    undefined,
  ]);
  assertEquals([entry.supports_search_tool, entry.truncation_policy], [false, {
    mode: "tokens",
    limit: 1,
  }]);
});

Deno.test("without a bundled entry the catalog has short instructions, and says so", async () => {
  for (const input of ["", "no JSON", "[]", '{"models":[{"tool_mode":"x"}]}']) {
    const args = ["agent", "codex", "--catalog", "--model", "coder"];
    const { code, out, err } = await ran(args, {}, input);
    assertEquals(code, 0);
    assertStringIncludes(err, "Standard input held no model of Codex");
    assertStringIncludes(out, '"slug": "coder"');
  }
});

Deno.test("the guide has the steps of each agent, which make the folder of a file that they write", async () => {
  const guide = await Deno.readTextFile("docs/guide/agents.md");
  const place: AgentPlace = {
    url: "http://gw",
    model: "MODEL",
    smallModel: "MODEL",
    reasoning: false,
    keyVariable: "SWITCHYARD_KEY",
    about: unknownModel,
  };
  for (const { title, steps } of Object.values(AGENTS)) {
    const [head, ...rest] = steps(place).filter((step) => /^(eval|mkdir|switchyard) /.test(step));
    assert(head !== undefined && rest.length === 0, title);
    assertStringIncludes(guide, `\n${head}\n`);
    const [, folder = ""] = /> (.*)\/[^/]+$/.exec(head) ?? [];
    if (folder !== "") assert(head.startsWith(`mkdir -p ${folder}; `), title);
  }
});

/** Names in which each shell reads a character as something else than itself. */
const NAMES = [
  "it's",
  '"$(id)`id`\\',
  "\\\\ \\' \\\"",
  "a b;c|d&e #f *? ~ {g,h} !i %j\nk",
  "-x",
  "",
];

/** Prints the words that the model and the key have become. */
const AS_WORDS = 'eval "$TEXT"; printf "%s\\037" "$ANTHROPIC_MODEL" "$ANTHROPIC_AUTH_TOKEN"';

Deno.test("bash, zsh, fish and sh read names and the key out of the lines as they are", async () => {
  const shells = ["sh", "bash", "zsh", "fish"].filter((name) => findInPath([name]) !== null);
  const key = `k"$y'\\z`;
  for (const shell of shells) {
    for (const name of NAMES) {
      const model = `m${name}`;
      const { out } = await ran(["agent", "claude", "--url", "http://gw:9000", "--model", model]);
      const { stdout } = await new Deno.Command(shell, {
        args: ["-c", AS_WORDS],
        env: { TEXT: out, SWITCHYARD_KEY: key },
      }).output();
      assertEquals([shell, new TextDecoder().decode(stdout)], [shell, `${model}\x1f${key}\x1f`]);
    }
  }
});
