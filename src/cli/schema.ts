import { configJsonSchema } from "../config/json_schema.ts";
import type { JsonObject } from "../core/json/json.ts";
import { recordJsonSchema } from "../record/record.ts";
import { optionValue } from "./arguments.ts";
import { type Command, OK_STATUS, wrongUsage } from "./command.ts";

const SCHEMAS: Readonly<Record<string, () => JsonObject>> = {
  config: configJsonSchema,
  record: recordJsonSchema,
};
const NAMES = Object.keys(SCHEMAS);
const NAME = NAMES.join("|");

/**
 * Command `switchyard schema`: prints the JSON Schema for editors that check and complete the file,
 * or of an exported record.
 */
export const schema: Command = {
  name: "schema",
  about: "Prints the JSON Schema of the configuration file, or of an exported record (record).",
  word: NAME,
  choices: () => Promise.resolve(NAMES),
  options: {},
  run(options, terminal) {
    const name = optionValue(options, NAME) ?? "config";
    const make = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
    if (make === undefined) {
      return Promise.resolve(wrongUsage(terminal, "schema", `There is no schema ${name}.`));
    }
    terminal.out(textOf(make()));
    return Promise.resolve(OK_STATUS);
  },
};

/** Returns the JSON Schema of the configuration as the text of a file. */
export function schemaText(): string {
  return textOf(configJsonSchema());
}

function textOf(json: JsonObject): string {
  return `${JSON.stringify(json, null, 2)}\n`;
}
