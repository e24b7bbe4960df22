import { OK_STATUS } from "../../src/cli/command.ts";
import { run } from "../../src/cli/run.ts";
import { configFile, testTerminal } from "../cli/test_terminal.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { commands, filled, type ShellCommand } from "./shell.ts";
import { SYSTEM } from "./system_commands.ts";
import { taskProblem } from "./tasks.ts";
import { configIn, sourceIn, variable } from "./pages.ts";

const PROGRAM = ["switchyard", "./switchyard"];

/** Commands that take a configuration, and commands that serve until a signal ends them. */
const CONFIGURED = ["", "check", "explain", "redact", "state", "usage"],
  SERVING = ["", "demo", "simulate"];

/** Runs the commands of one section of the documentation. */
interface Reader {
  follow(command: ShellCommand): Promise<void>;
}

function newReader(section: string): Reader {
  let config = configIn(section);

  /**
   * Runs the program in the process: on a free port, with the configuration that the reader has.
   */
  async function program(args: readonly string[], { environment, place }: ShellCommand) {
    const [first = ""] = args;
    const name = first.startsWith("-") ? "" : first;
    const names = config.matchAll(/\$\{(\w+)\}/g).map(([, found = ""]) => found);
    const keys = Object.fromEntries(names.map((found) => [found, variable(found)]));
    const terminal = testTerminal({ ...keys, ...environment });
    using file = await configFile(config);
    using source = await configFile(sourceIn(section));
    const asked = args.map((word, index) => {
      const before = args[index - 1];
      if (name === "import" && index === 2) return source.path;
      if (before === "--config") assertMatch(word, /^(?:\/etc\/switchyard\/)?config\.yaml$/, place);
      return before === "--config" ? file.path : before === "--port" ? "0" : word;
    });
    if (CONFIGURED.includes(name) && !args.includes("--config")) {
      asked.push("--config", file.path);
    }
    if (SERVING.includes(name) && !args.includes("--port")) asked.push("--port", "0");
    const running = run(asked, terminal);
    if (SERVING.includes(name)) {
      await Promise.race([terminal.printed(/listens on http:/), running]);
      terminal.end();
    }
    assertEquals(await running, OK_STATUS, `${place}: ${terminal.written.err}`);
    assert(terminal.written.out !== "", place);
    config = terminal.files.get("./config.yaml") ?? terminal.files.get("config.yaml") ?? config;
  }

  return {
    async follow(command) {
      const [word = "", ...args] = command.words.map((one) => filled(one, variable))
        .filter((one) => one !== "sudo");
      const check = SYSTEM[word];
      if (PROGRAM.includes(word)) return await program(args, command);
      if (word === "./scripts/deno") return assertEquals(await taskProblem(args), null);
      assert(check !== undefined, `${command.place}: no test knows ${word}`);
      assert(await check(args, command), `${command.place}: ${command.words.join(" ")}`);
    },
  };
}

// Those are run against a gateway, by another test.
const ownWork = commands.filter(({ words }) => words[0] !== "curl");

for (const section of new Set(ownWork.map((command) => command.section))) {
  Deno.test(`every command of the documentation runs: ${section}`, async () => {
    const reader = newReader(section);
    for (const command of ownWork.filter((one) => one.section === section)) {
      await reader.follow(command);
    }
  });
}
