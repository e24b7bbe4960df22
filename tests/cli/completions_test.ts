import { COMMANDS } from "../../src/cli/run.ts";
import { findInPath } from "../../scripts/tools/find_in_path.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { missingShell, typeInto } from "../support/shell_session.ts";
import { ran } from "./test_terminal.ts";

/** Typed lines and the arguments of the program, in every shell. */
const TYPED: readonly (readonly [string, readonly string[]])[] = [
  ["switchyard ini\tlap\t", ["init", "laptop"]],
  ["switchyard che\t--conf\tlocal\t", ["check", "--config", "local settings.yaml"]],
  ["switchyard --log\twar\t", ["--log-level", "warn"]],
  ["switchyard usage --days 3 --form\tcs\t", ["usage", "--days", "3", "--format", "csv"]],
  ["switchyard k\tn\tteam", ["key", "new", "team"]],
  ["switchyard key ro\tteam", ["key", "rotate", "team"]],
  ["switchyard imp\tcl\tlocal\t", ["import", "claude-code-router", "local settings.yaml"]],
  ["switchyard import lit\tlocal\t--str\t", [
    "import",
    "litellm",
    "local settings.yaml",
    "--strict",
  ]],
  ["switchyard log sh\t--cu\t", ["log", "show", "--curl"]],
  ["switchyard log --cont\tno\t", ["log", "--content", "none"]],
  ["switchyard help rou\t", ["help", "routing"]],
  ["switchyard help reference/\t", ["help", "reference/clients"]],
  ["switchyard compl\tzs\t", ["completions", "zsh"]],
  ["switchyard agent openc\t--mod\tm", ["agent", "opencode", "--model", "m"]],
];

/** Registers a test, which is listed as ignored where the machine lacks its shell. */
function shellTest(name: string, missing: string | null, fn: () => Promise<void>): void {
  Deno.test(
    missing === null ? { name, fn } : { name: `${name} (ignored: ${missing})`, ignore: true, fn },
  );
}

/** Returns a folder with a file whose name has a blank, which is removed in the end. */
async function folderWithFile(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir();
  await Deno.writeTextFile(`${path}/local settings.yaml`, "");
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

const SETUP = {
  bash: (script: string) => script,
  zsh: (script: string) => `autoload -Uz compinit; compinit -u -D\n${script}`,
};

for (const [shell, setup] of Object.entries(SETUP)) {
  shellTest(
    `${shell} completes commands, options and values when tab is pressed`,
    missingShell(shell),
    async () => {
      await using folder = await folderWithFile();
      const { out } = await ran(["completions", shell]);
      // Every command by all of its letters but the last.
      const first = COMMANDS.map(({ name }) => name.split(" ")[0] ?? "").filter(Boolean);
      const commands = first.map((word) => [`switchyard ${word.slice(0, -1)}\t`, [word]] as const);
      const typed = [...TYPED, ...commands];
      const received = await typeInto(
        shell,
        setup(out),
        typed.map(([line]) => line),
        folder.path,
      );
      // zsh writes --option=value, as the program also reads it.
      const words = received.map((line) => line.flatMap((word) => word.split("=")));
      assertEquals(words, typed.map(([, expected]) => expected));
    },
  );
}

/** Returns what fish offers for each line, without the descriptions. */
async function offeredByFish(script: string, lines: readonly string[], folder: string) {
  const { success, stdout } = await new Deno.Command("fish", {
    args: [
      "--no-config",
      "--command",
      `${script}\nfor line in $argv; complete --do-complete $line; echo; end`,
      ...lines,
    ],
    cwd: folder,
  }).output();
  assert(success);
  return new TextDecoder().decode(stdout).trimEnd().split("\n\n")
    .map((offered) => offered.split("\n").map((line) => line.split("\t")[0]));
}

const missingFish = findInPath(["fish"]) === null ? "there is no fish in the path" : null;

shellTest("fish offers commands, options and values", missingFish, async () => {
  await using folder = await folderWithFile();
  const { out } = await ran(["completions", "fish"]);
  const expected = {
    "switchyard ini": ["init"],
    "switchyard init ": ["edge", "laptop", "team"],
    "switchyard check --conf": ["--config"],
    "switchyard check --config loc": ["local settings.yaml"],
    "switchyard --config x --log-level ": ["debug", "error", "info", "warn"],
    "switchyard usage --format c": ["csv"],
    "switchyard key ": ["new", "rotate"],
    "switchyard import litellm loc": ["local settings.yaml"],
    "switchyard log show --cu": ["--curl"],
    "switchyard help reference/": ["reference/clients"],
    "switchyard help state": ["state"],
    "switchyard schema --": ["--help", "--version"],
  };
  const offered = await offeredByFish(out, Object.keys(expected), folder.path);
  assertEquals(offered, Object.values(expected));
});

Deno.test("every completion script has every command and every option of each", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, out } = await ran(["completions", shell]);
    assertEquals(code, 0);
    for (const { name, options } of COMMANDS) {
      for (const word of name.split(" ")) assertStringIncludes(out, word, shell);
      for (const option of Object.keys(options)) assertStringIncludes(out, option, shell);
    }
  }
});

Deno.test("completions without a known shell lists the shells", async () => {
  const { code, err } = await ran(["completions", "tcsh"]);
  assertEquals(code, 2);
  assertMatch(err, /^Name a shell: bash, zsh, fish\. /);
});
