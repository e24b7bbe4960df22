import { configJsonSchema } from "../config/json_schema.ts";
import { type Command, OK_STATUS } from "./command.ts";

/**
 * Command `switchyard schema`: prints the JSON Schema for editors that check and complete the file.
 */
export const schema: Command = {
  name: "schema",
  about: "Prints the JSON Schema of the configuration file.",
  options: {},
  run(_given, terminal) {
    terminal.out(schemaText());
    return Promise.resolve(OK_STATUS);
  },
};

/** Returns the JSON Schema of the configuration as the text of a file. */
export function schemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}
