import { Cancellation } from "../../src/core/cancellation.ts";
import { run } from "../../src/cli/run.ts";
import type { Terminal } from "../../src/cli/terminal.ts";

// Prints the manual page, built from the program's help texts of commands and options.

async function help(...command: readonly string[]): Promise<string> {
  let text = "";
  const terminal: Terminal = {
    out: (more) => void (text += more),
    err: (more) => void (text += more),
    input: () => Promise.resolve(""),
    create: () => null,
    dropWriteAccess: () => {},
    dropRunAccess: () => {},
    dropReadAccess: () => {},
    reserve: () => () => true,
    dropNetworkAccess: () => {},
    environment: {},
    isColoured: false,
    size: () => null,
    stop: () => new Cancellation(),
    onReload: () => () => {},
  };
  await run([...command, "--help"], terminal);
  return text;
}

/** Returns the rows of two columns below a heading of a help text. */
function columns(text: string, heading: string): readonly (readonly [string, string])[] {
  const [, list = ""] = text.split(`${heading}:\n`);
  const [block = ""] = list.split("\n\n");
  return [...block.matchAll(/^ {2}(\S+(?: \S+)?) {2,}(\S.*)$/gm)]
    .map(([, name = "", about = ""]) => [name, about]);
}

function roff(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^(?=[.'])/gm, "\\&");
}

function entries(rows: readonly (readonly [string, string])[]): string {
  return rows.map(([name, about]) => `.TP\n.B ${roff(name)}\n${roff(about)}\n`).join("");
}

/** Returns the manual page `switchyard(1)` for a version and a date such as 2026-01-31. */
export async function manual(version: string, day: string): Promise<string> {
  const general = await help();
  const commands = columns(general, "Commands");
  let sections = "";
  for (const [name, about] of commands) {
    const text = await help(...name.split(" "));
    const [, usage = ""] = /^Usage: (.*)/.exec(text) ?? [];
    const options = columns(text, "Options")
      .filter(([option]) => option !== "--help" && option !== "--version");
    sections += `.SS ${roff(name)}\n.B ${roff(usage)}\n.PP\n${roff(about)}\n${entries(options)}`;
  }
  return `.TH SWITCHYARD 1 ${day} "switchyard ${roff(version)}" "User Commands"
.SH NAME
switchyard \\- gateway for language\\-model APIs
.SH SYNOPSIS
.B switchyard
[\\fB\\-\\-config\\fR \\fIFILE\\fR] [\\fIoptions\\fR]
.br
.B switchyard
\\fICOMMAND\\fR [\\fIoptions\\fR]
.SH DESCRIPTION
Without a command it serves the configuration file until SIGTERM or SIGINT; running calls are
finished first, and a second signal ends it at once. SIGHUP reads the file again, as a change of the
file does.
.SH OPTIONS
${entries(columns(general, "Options"))}.SH COMMANDS
${sections}.SH EXIT STATUS
0 if the command succeeded, 1 if it failed, 2 for wrong usage.
.SH FILES
.TP
.I /etc/switchyard/config.yaml
The configuration of the service.
.TP
.I /etc/switchyard/switchyard.env
The keys of the service, NAME=value one a line.
`;
}

if (import.meta.main) {
  const [version = "", day = ""] = Deno.args;
  console.log((await manual(version, day)).trimEnd());
}
