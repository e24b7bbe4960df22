import type { Command } from "../../../src/cli/command.ts";
import { COMMON_OPTIONS } from "../../../src/cli/help.ts";
import { COMMANDS } from "../../../src/cli/run.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** The line that loads the completions of a shell, and the file that it belongs into. */
const COMPLETION_ROWS = [
  ["bash", '`eval "$(switchyard completions bash)"`', "`~/.bashrc`"],
  ["zsh", "`source <(switchyard completions zsh)`", "`~/.zshrc`, after `compinit`"],
  ["fish", "`switchyard completions fish | source`", "`~/.config/fish/config.fish`"],
];

/** Returns the page `docs/reference/cli.md`. */
export function cliPage(): string {
  const rows = COMMANDS.map((command) => [
    `\`${usageOf(command)}\``,
    command.about,
    Object.keys(command.options).map((name) => `\`--${name}\``).join(", "),
  ]);
  return `# Command line

${generatedNote("the help of the commands in `src/cli/`")}

${
    tableText(["command", "what it does", "options"], [...rows, [
      "`switchyard --version`, `--help`",
      "Every command accepts both.",
      Object.keys(COMMON_OPTIONS).map((name) => `\`--${name}\``).join(", "),
    ]])
  }

Exit codes: 0 done, 1 could not be done (the file is broken, the address is in use, no target would serve
the request of \`explain\`), 2 wrong usage.

\`\`\`sh
switchyard --config config.yaml --host 127.0.0.1 --port 8080 --log-level debug
switchyard check --config config.yaml
switchyard schema
switchyard help configuration
\`\`\`

In a checkout, this serves \`./config.yaml\` and starts again when the sources change:

\`\`\`sh
./scripts/deno task dev
\`\`\`

## Completion in a shell

\`switchyard completions bash|zsh|fish\` prints a script with which the shell completes commands, options and their
values. The Debian package and the Homebrew formula install the scripts of all three.

${tableText(["shell", "line", "file"], COMPLETION_ROWS)}

## Options

${COMMANDS.filter(({ options }) => Object.keys(options).length > 0).map(optionsText).join("\n\n")}
`;
}

function usageOf({ name, word }: Command): string {
  return ["switchyard", name, word ?? "", name === "" ? "[options]" : ""].filter(Boolean).join(" ");
}

function optionsText(command: Command): string {
  const rows = Object.entries(command.options).map(([name, { value, about }]) => [
    `\`--${name}${value === null ? "" : ` ${value}`}\``,
    about,
  ]);
  return `### ${["switchyard", command.name].filter(Boolean).join(" ")}\n\n${
    tableText(["option", "meaning"], rows)
  }`;
}
