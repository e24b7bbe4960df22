import { run } from "../../src/cli/run.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { configFile, ran, testTerminal } from "./test_terminal.ts";

const SOURCE = `
model_list:
  - model_name: fast
    litellm_params: {model: openai/gpt-4o-mini, api_key: sk-a-literal-key-0123456789}
    strange: 1
`;

Deno.test("import prints the file, and the report on standard error", async () => {
  using source = await configFile(SOURCE);
  const { code, out, err } = await ran(["import", "litellm", source.path]);
  assertEquals(code, 0);
  assertMatch(out, /\n {2}fast:\n {4}targets:\n {6}- \{provider: openai, model: gpt-4o-mini\}\n/);
  assertStringIncludes(err, "missing      model_list[0].strange\n             unknown key\n");
  assertStringIncludes(err, "2 carried, 1 differently, 1 missing, 0 no meaning.\n");
  assertStringIncludes(err, "The result passes check.\nSet before the start: OPENAI_API_KEY.\n");
  assert(!`${out}${err}`.includes("literal-key"));
});

Deno.test("import writes the file and the report as JSON, each only if it does not exist", async () => {
  using source = await configFile(SOURCE);
  const terminal = testTerminal();
  const args = ["import", "litellm", source.path, "--output", "new.yaml", "--report", "r.json"];
  assertEquals(await run(args, terminal), 0);
  const report = JSON.parse(terminal.files.get("r.json") ?? "");
  assertEquals([report.source, report.result, report.check], ["litellm", "valid", []]);
  assertEquals(report.lines[1], {
    path: "model_list[0].litellm_params.model",
    status: "carried",
    to: ["models.fast", "providers.openai"],
    note: "",
  });
  const written = terminal.files.get("new.yaml");
  assertMatch(written ?? "", /^providers:$/m);
  terminal.files.delete("r.json");
  assertEquals(await run(args, terminal), 1);
  assertStringIncludes(terminal.written.err, "new.yaml exists already.\n");
  assertEquals(terminal.files.get("new.yaml"), written);
});

Deno.test("with --strict a missing value is exit code 1, and the file is not written", async () => {
  for (
    const [text, expected] of [[SOURCE, 1], [SOURCE.replace("    strange: 1\n", ""), 0]] as const
  ) {
    using source = await configFile(text);
    const terminal = testTerminal();
    const args = ["import", "litellm", source.path, "--strict", "--output", "new.yaml"];
    assertEquals(await run(args, terminal), expected);
    assertEquals(terminal.files.has("new.yaml"), expected === 0);
  }
});

Deno.test("a source of which nothing can be served is exit code 1 with its report", async () => {
  using source = await configFile(
    "model_list: [{model_name: a, litellm_params: {model: cohere/b}}]",
  );
  const terminal = testTerminal();
  const args = ["import", "litellm", source.path, "--output", "new.yaml", "--report", "r.json"];
  assertEquals(await run(args, terminal), 1);
  assertStringIncludes(terminal.written.err, "Nothing of the source can be served");
  assertEquals([...terminal.files.keys()], ["r.json"]);
  assertEquals(JSON.parse(terminal.files.get("r.json") ?? "").result, "none");
});

/** Sources that cannot be read, and the end of the problem. */
const UNREADABLE: Readonly<
  Record<string, readonly [source: string, text: string, problem: RegExp]>
> = {
  "another file": ["litellm", "providers: {}", /it has no model_list/],
  "another JSON": ["claude-code-router", "{}", /it has no Providers/],
  "an empty file": ["litellm", "", /it has no model_list/],
  "a file of other files": ["litellm", "include: [models.yaml]", /import each file of include/],
  "broken YAML": ["litellm", "model_list: [\n  {a: sk-hidden-1\n", /not valid YAML.* \(line \d+/],
  "a tag": ["litellm", "model_list: !!python/object:os.system [sk-hidden-2]", /tag/],
  "two documents": [
    "litellm",
    "model_list: []\n---\nmodel_list: []\n",
    /more than one YAML document/,
  ],
  "an anchor of itself": ["litellm", "model_list: &a [*a]", /alias/],
  "aliases of aliases": [
    "litellm",
    `a0: &a0 [x, x, x, x, x, x, x, x]\n${
      Array.from({ length: 8 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(8)}]\n`)
        .join("")
    }model_list: []\n`,
    /more than 200,000 values/,
  ],
  "deep nesting": [
    "litellm",
    `model_list: ${"[".repeat(70)}${"]".repeat(70)}`,
    /nested too deeply/,
  ],
  "more values than a file can have in 300 MiB": [
    "litellm",
    `a: [${"1, ".repeat(40_000)}]\nmodel_list: []`,
    /more than 40,000 values/,
  ],
  "a chain of merges": [
    "litellm",
    `m0: &m0 {k: 1}\n${
      Array.from({ length: 200 }, (_, at) => `m${at + 1}: &m${at + 1} {<<: *m${at}, k${at}: 1}\n`)
        .join("")
    }model_list: []\n`,
    /more than 200,000 values with those that aliases repeat/,
  ],
  "a list of lists on one line": ["litellm", "- ".repeat(39_000), /nested too deeply/],
  "a mapping of mappings on one line": ["litellm", "? ".repeat(39_000), /nested too deeply/],
  "more tags than values": ["litellm", `a: ${"!b ".repeat(40_001)}`, /more than 40,000 values/],
  "a million open lists": ["litellm", `a: ${"[".repeat(1_000_000)}`, /more than 40,000 values/],
  "too many entries": [
    "litellm",
    `model_list:\n${"- {}\n".repeat(5_001)}`,
    /more than 5000 entries/,
  ],
  "a database": ["claude-code-router", "SQLite format 3\0...", /export a backup/],
  "broken JSON": ["claude-code-router", '{"Providers": [', /not valid/],
};

for (const [title, [source, text, problem]] of Object.entries(UNREADABLE)) {
  Deno.test(`import refuses ${title} without a word of it`, async () => {
    using file = await configFile(text);
    const { code, out, err } = await ran(["import", source, file.path]);
    assertEquals([code, out], [1, ""]);
    assertMatch(err, problem);
    assert(!err.includes("hidden"));
  });
}

Deno.test("import refuses a missing file, a large one, and wrong arguments", async () => {
  const missing = await ran(["import", "litellm", "/nonexistent/a.yaml"]);
  assertEquals([missing.code, missing.err], [
    1,
    "Cannot read /nonexistent/a.yaml: the file does not exist.\n",
  ]);
  using large = await configFile(`# ${"x".repeat(4 * 1024 * 1024)}`);
  assertMatch(
    (await ran(["import", "litellm", large.path])).err,
    /the file has more than 4 MiB\.$/m,
  );
  assertEquals((await ran(["import", "litellm"])).code, 2);
  assertEquals((await ran(["import", "bifrost", "a"])).code, 2);
  assertEquals((await ran(["import", "litellm", "a", "--secrets", "b"])).code, 2);
  const same = await ran(["import", "litellm", "a", "--output", "b", "--report", "./b"]);
  assertEquals([same.code, same.err.split(". ")[0]], [
    2,
    "--output and --report name the same file",
  ]);
});

Deno.test("a source may have a byte order mark, and lines that end as on Windows", async () => {
  using source = await configFile(`\ufeff${SOURCE.replaceAll("\n", "\r\n")}`);
  assertEquals((await ran(["import", "litellm", source.path])).code, 0);
});

Deno.test("import gives up its rights before it parses: all of them if it writes no file", async () => {
  using source = await configFile(SOURCE);
  const terminal = testTerminal();
  assertEquals(await run(["import", "litellm", source.path], terminal), 0);
  assertEquals(
    [terminal.mayRead, terminal.mayConnect, terminal.mayWrite, terminal.mayRun],
    [false, false, false, false],
  );
  const writing = testTerminal();
  await run(["import", "litellm", source.path, "--output", "new.yaml"], writing);
  assertEquals([writing.mayRead, writing.mayConnect, writing.mayWrite], [false, false, true]);
});

Deno.test("a variable that names the model of an entry may be set in the file .env of the folder", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/.env`, "FAST_MODEL=groq/llama-x\nFAST_KEY=a-key-of-env\n");
  await Deno.writeTextFile(
    `${folder}/litellm_config.yaml`,
    "model_list: [{model_name: fast, litellm_params: {model: os.environ/FAST_MODEL, api_key: os.environ/FAST_KEY}}]",
  );
  const { code, out, err } = await ran(["import", "litellm", `${folder}/litellm_config.yaml`]);
  assertEquals(code, 0, err);
  assertStringIncludes(out, "- {provider: groq, model: llama-x}");
  assertStringIncludes(out, "api_key: ${FAST_KEY}");
  assert(!`${out}${err}`.includes("a-key-of-env"));
  await Deno.remove(folder, { recursive: true });
});

Deno.test("import needs no right but to read its source and to write its result", async () => {
  using source = await configFile(SOURCE);
  const folder = await Deno.makeTempDir();
  const output = `${folder}/config.yaml`;
  const main = new URL("../../main.ts", import.meta.url).pathname;
  // The program itself is read too: in an executable it is not.
  const code = new URL("../../src/", import.meta.url).pathname;
  const rights = [
    "--no-prompt",
    `--allow-read=${source.path},${code}`,
    `--allow-write=${output}`,
    "--allow-env",
  ];
  const child = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      ...rights,
      main,
      "import",
      "litellm",
      source.path,
      "--output",
      output,
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  assertEquals(child.code, 0, new TextDecoder().decode(child.stderr));
  assertMatch(await Deno.readTextFile(output), /^models:$/m);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a source has at most 200 names that are carried; further ones are missing", async () => {
  const names = Array.from({ length: 201 }, (_, at) => `name-${at + 1}`);
  const entries = names.map((name) =>
    `- {model_name: ${name}, litellm_params: {model: openai/m, api_key: os.environ/KEY}}\n`
  );
  using source = await configFile(`model_list:\n${entries.join("")}`);
  const { code, out, err } = await ran(["import", "litellm", source.path]);
  assertEquals(code, 0);
  assertEquals(out.match(/^ {2}name-\d+:$/gm)?.length, 200);
  assertStringIncludes(
    err,
    "missing      model_list[200].model_name\n             a file has at most 200 named models\n",
  );
});

Deno.test("import warns of a fallback that cannot carry a parameter of the name", async () => {
  using source = await configFile(`
model_list:
  - {model_name: a, litellm_params: {model: openai/m, temperature: 1.5}}
  - {model_name: b, litellm_params: {model: anthropic/m}}
router_settings: {fallbacks: [{a: [b]}]}
`);
  const terminal = testTerminal();
  assertEquals(await run(["import", "litellm", source.path, "--report", "r.json"], terminal), 0);
  const warning = "models.a: anthropic/m is skipped: ";
  assertStringIncludes(terminal.written.err, `Warning: ${warning}`);
  const { warnings } = JSON.parse(terminal.files.get("r.json") ?? "");
  assertEquals(warnings.map((text: string) => text.startsWith(warning)), [true]);
});
