import { ACCESS_FIELD_DOCS, END_DOCS } from "./access_log_docs.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** Returns the page `docs/reference/log-fields.md`. */
export function logFieldsPage(): string {
  const fields = Object.entries(ACCESS_FIELD_DOCS).map(([name, { meaning, example }]) => [
    `\`${name}\``,
    meaning,
    `\`${example}\``,
  ]);
  const ends = Object.entries(END_DOCS).map(([name, meaning]) => [`\`${name}\``, meaning]);
  return `# Log fields

${generatedNote("`scripts/tools/reference/access_log_docs.ts`")}

Every request has one access line: level \`info\`, message \`request\`. It is written when the request is
over. Fields that do not apply are omitted. [Monitoring](../operate/monitoring.md#logs) explains the
other lines and the format.

${tableText(["field", "meaning", "example"], fields)}

With [several workers](../operate/workers.md) each line of a worker ends with its number as \`worker\`.

With \`observability.key_labels\`, the line also has these labels of the client key: \`team\` as \`key_team\`.

## Values of end

The list is closed: \`end\` has no other value. The [errors page](errors.md) has the value of each error.

${tableText(["\`end\`", "meaning"], ends)}
`;
}
