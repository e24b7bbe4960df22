import { VERSION } from "../../src/core/build.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { ran } from "./test_terminal.ts";

const COMMANDS = ["check", "explain", "schema", "demo", "simulate"];

Deno.test("the help names every command and every option of serving", async () => {
  const { code, out, err } = await ran(["--help"]);
  assertEquals([code, err], [0, ""]);
  for (const word of [...COMMANDS, "--config", "--log-level", "--host", "--port", "--version"]) {
    assertStringIncludes(out, word);
  }
  assertEquals((await ran(["-h"])).out, out);
});

Deno.test("each command has its own help text", async () => {
  for (const command of COMMANDS) {
    const { code, out } = await ran([command, "--help"]);
    assertEquals(code, 0);
    assert(out.startsWith(`Usage: switchyard ${command}`));
  }
});

Deno.test("the version is that of the release", async () => {
  assertEquals(await ran(["--version"]), { code: 0, out: `switchyard ${VERSION}\n`, err: "" });
});

Deno.test("wrong usage ends with 2, one sentence and a pointer to the help", async () => {
  const cases: readonly (readonly [args: readonly string[], sentence: string])[] = [
    [["chekc"], 'There is no command "chekc"; did you mean check? See "switchyard --help".'],
    [["zzz"], 'There is no command "zzz". See "switchyard --help".'],
    [
      ["--confg", "x"],
      'There is no option --confg; did you mean --config? See "switchyard --help".',
    ],
    [["-x"], 'There is no option -x. See "switchyard --help".'],
    [
      ["--config", "a", "b"],
      '"b" is one argument too many. See "switchyard --help".',
    ],
    [["--config"], '--config needs a value: --config FILE. See "switchyard --help".'],
    [
      ["--config", "--port", "1"],
      '--config needs a value: --config FILE. See "switchyard --help".',
    ],
    [["--port=1", "--port=2"], '--port is set twice. See "switchyard --help".'],
    [["--port", "65536"], '--port must be a number from 0 to 65535. See "switchyard --help".'],
    [
      ["--log-level", "loud"],
      "--log-level must be debug, info, warn or error. " +
      'See "switchyard --help".',
    ],
    [["--version=1"], '--version takes no value. See "switchyard --help".'],
    [["check", "--", "x"], '-- has no meaning here. See "switchyard check --help".'],
    [["explain"], '--model is missing. See "switchyard explain --help".'],
    [
      ["demo", "--port", "x"],
      '--port must be a number from 0 to 65535. See "switchyard demo --help".',
    ],
  ];
  for (const [args, sentence] of cases) {
    assertEquals(await ran(args), { code: 2, out: "", err: `${sentence}\n` });
  }
});

Deno.test("the schema is printed as JSON", async () => {
  const { code, out, err } = await ran(["schema"]);
  assertEquals([code, err], [0, ""]);
  const schema: unknown = JSON.parse(out);
  assert(typeof schema === "object" && schema !== null && "properties" in schema);
});

Deno.test("the schema of an exported record is printed by its name, and another name is wrong usage", async () => {
  const { code, out, err } = await ran(["schema", "record"]);
  assertEquals([code, err], [0, ""]);
  assertEquals(JSON.parse(out).title, "Switchyard record");
  assertEquals(await ran(["schema", "other"]), {
    code: 2,
    out: "",
    err: 'There is no schema other. See "switchyard schema --help".\n',
  });
});
