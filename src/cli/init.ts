import { parseConfig } from "../config/load.ts";
import { nearest } from "../config/problems.ts";
import { optionValue } from "./arguments.ts";
import { urlOf } from "./listen.ts";
import { type Command, OK_STATUS, printProblems, USUAL_CONFIG, wrongUsage } from "./command.ts";
import { schemaText } from "./schema.ts";
import { EDGE, LAPTOP, type Starter, TEAM } from "./starters.ts";

/** Starter configurations by name. */
export const STARTERS: Readonly<Record<string, Starter>> = {
  laptop: LAPTOP,
  edge: EDGE,
  team: TEAM,
};

const KINDS = Object.keys(STARTERS);
const KIND = KINDS.join("|");

/** The file with the JSON Schema, which editors look for next to the configuration. */
export const SCHEMA_FILE = "config.schema.json";

/** First line of a starter file, by which the YAML language server of editors finds its schema. */
const SCHEMA_LINE = `# yaml-language-server: $schema=${SCHEMA_FILE}\n`;

/** Command `switchyard init KIND`: writes a starter configuration and its schema. */
export const init: Command = {
  name: "init",
  writesFiles: true,
  about:
    `Writes a commented ./config.yaml as a start, and ${SCHEMA_FILE} for editors. An existing ` +
    "file is not changed.",
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
      const text = `${SCHEMA_LINE}${starter(newSecret)}`;
      if (options.has("print")) {
        terminal.out(text);
        return OK_STATUS;
      }
      const trouble = terminal.create(USUAL_CONFIG, text);
      if (trouble !== null) {
        const sentence = `${USUAL_CONFIG} ${trouble}; --print shows the text instead.`;
        return printProblems(terminal, [sentence]);
      }
      const schemaTrouble = terminal.create(`./${SCHEMA_FILE}`, schemaText());
      terminal.out(
        `${USUAL_CONFIG} is written. Read it, then run "switchyard check" and "switchyard".\n${
          adminLine(text)
        }${schemaLine(schemaTrouble)}`,
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

/** Returns the line about the schema; `trouble` is why it is not written, null if it is. */
function schemaLine(trouble: string | null): string {
  return trouble === null
    ? `Editors check and complete it with the schema in ./${SCHEMA_FILE}.\n`
    : `The schema for editors is not written: ./${SCHEMA_FILE} ${trouble}; ` +
      '"switchyard schema" prints it.\n';
}

function unknownKind(kind: string): string {
  if (kind === "") return `Name a starter file: ${KINDS.join(", ")}.`;
  const likely = nearest(kind, KINDS);
  const hint = likely === null ? `; there are ${KINDS.join(", ")}.` : `; did you mean ${likely}?`;
  return `There is no starter file "${kind}"${hint}`;
}

/** Returns a random secret of 122 bits. */
function newSecret(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
