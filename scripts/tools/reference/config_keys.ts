import { isObject } from "../../../src/core/json/json.ts";
import { typedJsonSchema } from "../../../src/config/json_schema.ts";
import { DURATION } from "../../../src/config/units.ts";

/** Returns a Markdown table of all keys with type, default and meaning. Ends with a line break. */
export function configReference(): string {
  const rows = keyRows(typedJsonSchema(), "");
  return ["| key | type | default | meaning |", "|---|---|---|---|", ...rows, ""].join("\n");
}

function keyRows(schema: unknown, prefix: string): string[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).flatMap(([key, inner]) => {
    const name = `${prefix}${key}`;
    const below = belowRows(inner, name);
    if (below.length > 0 && isObject(inner) && inner.type === "object") return below;
    return [row(inner, name, required.includes(key)), ...below];
  });
}

function belowRows(schema: unknown, name: string): string[] {
  if (!isObject(schema)) return [];
  if (schema.type === "array") return keyRows(schema.items, `${name}[].`);
  if (isObject(schema.properties)) return keyRows(schema, `${name}.`);
  return keyRows(schema.additionalProperties, `${name}.<id>.`);
}

function row(schema: unknown, name: string, isRequired: boolean): string {
  const meaning = isObject(schema) ? String(schema.description ?? "") : "";
  const cells = [`\`${name}\``, typeText(schema), defaultText(schema, isRequired)];
  return `| ${cells.join(" | ")} | ${meaning.replaceAll("<", "&lt;")} |`;
}

function typeText(schema: unknown): string {
  if (!isObject(schema)) return "";
  if (Array.isArray(schema.enum)) return schema.enum.map((word) => `\`${word}\``).join(", ");
  if (schema.type === "array") return `list of ${typeText(schema.items)}`;
  if (schema.type === "object") {
    const inner = schema.additionalProperties;
    return isObject(inner) ? `map of ${typeText(inner)}` : "mapping";
  }
  if (schema.type === "string") return schema.pattern === DURATION.source ? "duration" : "text";
  return String(schema.type);
}

function defaultText(schema: unknown, isRequired: boolean): string {
  if (isRequired) return "required";
  const value = isObject(schema) ? schema.default : undefined;
  return value === undefined ? "none" : `\`${JSON.stringify(value).replace(/^"(.*)"$/, "$1")}\``;
}
