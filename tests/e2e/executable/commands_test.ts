import manifest from "../../../deno.json" with { type: "json" };
import { configJsonSchema } from "../../../src/config/json_schema.ts";
import { parseJson } from "../../../src/core/json/json.ts";
import { program, programCommand } from "../../cli/program.ts";
import { configFile } from "../../cli/test_terminal.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { recordOf } from "../../support/replay.ts";
import { started } from "./running.ts";

async function ran(...args: readonly string[]) {
  return await ranIn(Deno.cwd(), ...args);
}

async function ranIn(cwd: string, ...args: readonly string[]) {
  const { child, out, err } = program(args, { cwd });
  const [{ code }, text, errors] = await Promise.all([child.status, out.rest(), err.rest()]);
  return { code, out: text, err: errors };
}

Deno.test("the program prints the version of the sources", async () => {
  assertEquals(await ran("--version"), {
    code: 0,
    out: `switchyard ${manifest.version}\n`,
    err: "",
  });
});

Deno.test("--help prints the usage, and wrong usage exits with 2", async () => {
  const { code, out } = await ran("--help");
  assertEquals(code, 0);
  for (const word of ["check", "explain", "schema", "demo", "simulate", "--config FILE"]) {
    assertStringIncludes(out, word);
  }
  const wrong = await ran("chekc");
  assertEquals([wrong.code, wrong.out], [2, ""]);
  assertMatch(wrong.err, /did you mean check\?/);
});

// What each kind of starter file has is tested in the process, in tests/cli/init_test.ts.
Deno.test("the program writes a starter file once, finds it valid without a warning, and explains it", async () => {
  const folder = await Deno.makeTempDir();
  const { code, err } = await ranIn(folder, "init", "edge");
  assertEquals([code, err], [0, ""]);
  const text = await Deno.readTextFile(`${folder}/config.yaml`);
  const check = await ranIn(folder, "check");
  assertEquals([check.code, check.err], [0, ""]);
  assertStringIncludes(check.out, "is valid.");
  assert(!check.out.includes("Warning"), check.out);
  assertEquals((await ranIn(folder, "init", "edge")).code, 1);
  assertEquals(await Deno.readTextFile(`${folder}/config.yaml`), text);
  const explained = await ranIn(folder, "explain", "--model", "any");
  assertEquals(explained.code, 0);
  assertMatch(explained.out, /ollama\/any/);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a starter file that cannot be written completely is removed", async () => {
  const folder = await Deno.makeTempDir();
  // The limit on file sizes plays a full disk.
  const small = 'trap "" XFSZ; ulimit -f 1; exec "$@"';
  const { code, stderr } = await new Deno.Command("sh", {
    args: ["-c", small, "sh", ...programCommand(["init", "team"])],
    cwd: folder,
  }).output();
  assertEquals(code, 1);
  assertMatch(new TextDecoder().decode(stderr), /config\.yaml cannot be written whole; --print/);
  assertEquals([...Deno.readDirSync(folder)], []);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("the program reports problems of a file with line and column", async () => {
  using file = await configFile("server: {port: x}\n");
  const { code, err } = await ran("check", "--config", file.path);
  assertEquals(code, 1);
  assertMatch(err, /^server\.port: .*\(line 1, column 16\)$/m);
});

Deno.test("the program replays on two threads as on one, and names each difference in the same order", async () => {
  const file = (provider: string) => `
providers:
  openai: {type: compat, base_url: "https://api.openai.com/v1", api_key: k, default_model: m}
  claude: {type: messages, base_url: "https://api.anthropic.com", api_key: k, default_model: m}
routing: {routes: [{name: main, targets: [{provider: ${provider}}]}]}
`;
  const calls = Array.from({ length: 150 }, (_, at) =>
    recordOf("/v1/chat/completions", {
      model: "auto",
      messages: [{ role: "user", content: `question ${at}` }],
      ...at % 3 === 0 && { logit_bias: { "5": 1 } },
    }, { id: `call-${at}`, at: new Date(1_700_000_000_000 + at).toISOString() }));
  using before = await configFile(file("openai"));
  using after = await configFile(file("claude"));
  using records = await configFile(calls.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const replayed = (jobs: string) =>
    ran(
      ...["replay", "--config", before.path, "--against", after.path, "--records", records.path],
      ...["--format", "json", "--all", "--jobs", jobs],
    );
  const one = await replayed("1");
  assertEquals([one.code, one.err], [1, ""]);
  assertStringIncludes(one.out, '"refused": 50');
  assertEquals(await replayed("2"), one);
});

Deno.test("the program prints the JSON Schema of its configuration", async () => {
  const { code, out } = await ran("schema");
  assertEquals(code, 0);
  assertEquals<unknown>(parseJson(out), parseJson(JSON.stringify(configJsonSchema())));
});

Deno.test("demo runs without a key and a network", async () => {
  await using demo = await started(["demo", "--port", "0"]);
  for (const wire of ["compat", "messages", "local"]) {
    assert(await demo.out.until(new RegExp(`\\b${wire}\\b`)) !== null, wire);
  }
  assertEquals((await demo.ended())[0], 0);
});
