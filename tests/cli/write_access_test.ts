import { COMMANDS } from "../../src/cli/run.ts";
import { PERMISSIONS } from "../../scripts/packaging/permissions.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { configFile, testTerminal, whileServing } from "./test_terminal.ts";
import { run } from "../../src/cli/run.ts";

const PORT_0 = `
server: {port: 0}
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai}]}]}
`;

Deno.test("only commands that write files have the right to", async () => {
  const writing = COMMANDS.filter(({ writesFiles }) => writesFiles).map(({ name }) => name);
  assertEquals(writing, [
    "",
    "init",
    "import litellm",
    "import claude-code-router",
    "replay",
    "state",
    "usage",
    "log",
    "log show",
    "record",
  ]);
  const terminal = testTerminal();
  assertEquals(await run(["schema"], terminal), 0);
  assert(!terminal.mayWrite);
});

Deno.test("only the command that may start workers has the right to start processes", async () => {
  const starting = COMMANDS.filter(({ startsProcesses }) => startsProcesses).map(({ name }) =>
    name
  );
  assertEquals(starting, [""]);
  const terminal = testTerminal();
  assertEquals(await run(["schema"], terminal), 0);
  assert(!terminal.mayRun);
});

Deno.test("a gateway of one process has given up the right to start processes", async () => {
  using file = await configFile(PORT_0);
  await whileServing(["--config", file.path], async (terminal) => {
    await terminal.printed(/listens on/);
    assert(!terminal.mayRun);
  });
});

Deno.test("the program may start itself and no other program, until it gives that up", async () => {
  const program = `
    import { realTerminal } from "${new URL("../../src/cli/terminal.ts", import.meta.url)}";
    const may = (command) => Deno.permissions.querySync({ name: "run", command }).state;
    const all = () => ["/proc/self/exe", "/bin/sh", Deno.execPath()].map(may).join(" ");
    console.log(all());
    realTerminal().dropRunAccess();
    console.log(all());
  `;
  const { stdout } = await outputOf(program, PERMISSIONS);
  assertEquals(stdout, "granted prompt prompt\nprompt prompt prompt\n");
});

Deno.test("a gateway that serves has given up the right to write files", async () => {
  using file = await configFile(PORT_0);
  await whileServing(["--config", file.path], async (terminal) => {
    await terminal.printed(/listens on/);
    assert(!terminal.mayWrite);
  });
});

Deno.test("a process that has given up the right to write files cannot write", async () => {
  const path = await Deno.makeTempFile();
  const program = `
    import { realTerminal } from "${new URL("../../src/cli/terminal.ts", import.meta.url)}";
    const terminal = realTerminal();
    using open = Deno.openSync("${path}", { write: true });
    terminal.dropWriteAccess();
    open.writeSync(new TextEncoder().encode("open"));
    console.log(terminal.create("${path}.new", "text"));
  `;
  const permissions = ["--no-prompt", "--allow-read", "--allow-write", "--allow-env"];
  const { code, stdout } = await outputOf(program, permissions);
  assertEquals(code, 0);
  assertEquals(stdout, "may not be written by this program\n");
  assertEquals(await Deno.readTextFile(path), "open");
  await Deno.remove(path);
});

/** Runs a program that is read from stdin. */
async function outputOf(program: string, permissions: readonly string[]) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...permissions, "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(program));
  await writer.close();
  const { code, stdout } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout) };
}
