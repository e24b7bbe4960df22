import { parseConfig } from "../config/load.ts";
import { nearest } from "../config/problems.ts";
import { optionValue } from "./arguments.ts";
import { urlOf } from "./listen.ts";
import { type Command, OK_STATUS, printProblems, USUAL_CONFIG, wrongUsage } from "./command.ts";
import { EDGE, LAPTOP, type Starter, TEAM } from "./starters.ts";

/** Starter configurations by name. */
export const STARTERS: Readonly<Record<string, Starter>> = {
  laptop: LAPTOP,
  edge: EDGE,
  team: TEAM,
};

const KINDS = Object.keys(STARTERS);
const KIND = KINDS.join("|");

/** Command `switchyard init KIND`: writes a starter configuration. */
export const init: Command = {
  name: "init",
  writesFiles: true,
  about: "Writes a commented ./config.yaml as a start. An existing file is not changed.",
  word: KIND,
  choices: () => Promise.resolve(KINDS),
  options: {
    print: { value: null, about: "Prints it instead of writing the file." },
  },
  run(options, terminal) {
    return Promise.resolve(begun());

    function begun(): number {
      const kind = optionValue(options, KIND) ?? "";
      const starter = Object.hasOwn(STARTERS, kind) ? STARTERS[kind] : undefined;
      if (starter === undefined) return wrongUsage(terminal, "init", unknownKind(kind));
      const text = starter(newSecret);
      if (options.has("print")) {
        terminal.out(text);
        return OK_STATUS;
      }
      const trouble = terminal.create(USUAL_CONFIG, text);
      if (trouble !== null) {
        const sentence = `${USUAL_CONFIG} ${trouble}; --print shows the text instead.`;
        return printProblems(terminal, [sentence]);
      }
      terminal.out(
        `${USUAL_CONFIG} is written. Read it, then run "switchyard check" and "switchyard".\n${
          adminLine(text)
        }`,
      );
      return OK_STATUS;
    }
  },
};

/** Returns the line with the link of the admin page; empty if the file does not switch it on. */
function adminLine(text: string): string {
  const loaded = parseConfig(text, {});
  const admin = loaded.ok ? loaded.config.admin : null;
  return admin?.enabled === true
    ? `Its admin page will be at ${urlOf(admin.host, admin.port)}/.\n`
    : "";
}

function unknownKind(kind: string): string {
  if (kind === "") return `Name a starter file: ${KINDS.join(", ")}.`;
  const likely = nearest(kind, KINDS);
  const hint = likely === null ? `; there are ${KINDS.join(", ")}` : `; did you mean ${likely}?`;
  return `There is no starter file "${kind}"${hint}`;
}

/** Returns a random secret of 122 bits. */
function newSecret(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
