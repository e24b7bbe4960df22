import { isObject, type JsonObject, type JsonValue, numberOf } from "../core/json/json.ts";

/** A recursive schema may have no finite value: below this depth the sample is null. */
const MAX_SCHEMA_DEPTH = 32;

/**
 * Returns a value that matches a JSON Schema; the same schema gives the same value. Only required
 * properties are set, and the first `enum` value, the first alternative and the smallest number are
 * chosen.
 */
export function sampleFromSchema(schema: JsonValue | undefined): JsonValue {
  return sampleValue(schema, schema, 0);
}

/** Returns sample arguments of a tool: an object that matches its schema. */
export function sampleArguments(schema: JsonValue | undefined): JsonObject {
  const value = sampleFromSchema(schema);
  return isObject(value) ? value : {};
}

function sampleValue(schema: JsonValue | undefined, root: JsonValue | undefined, depth: number) {
  if (!isObject(schema) || depth > MAX_SCHEMA_DEPTH) return null;
  if (typeof schema.$ref === "string") {
    return sampleValue(resolveReference(root, schema.$ref), root, depth + 1);
  }
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return sampleValue(alternatives[0], root, depth + 1);
  return sampleOfType(schema, root, depth);
}

function resolveReference(root: JsonValue | undefined, reference: string): JsonValue | undefined {
  let found = root;
  for (const step of reference.split("/").slice(1)) {
    found = isObject(found) ? found[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return found;
}

function sampleOfType(schema: JsonObject, root: JsonValue | undefined, depth: number): JsonValue {
  switch (schemaType(schema)) {
    case "object":
      return sampleObject(schema, root, depth);
    case "array": {
      const length = numberOf(schema.minItems) ?? 1;
      return Array.from({ length }, () => sampleValue(schema.items, root, depth + 1));
    }
    case "string":
      return sampleString(schema);
    case "integer":
      return Math.ceil(numberOf(schema.minimum) ?? 1);
    case "number":
      return numberOf(schema.minimum) ?? 1.5;
    case "boolean":
      return true;
    default:
      return null;
  }
}

function schemaType(schema: JsonObject): JsonValue | undefined {
  if (Array.isArray(schema.type)) return schema.type.find((type) => type !== "null");
  if (schema.type !== undefined) return schema.type;
  return isObject(schema.properties) ? "object" : schema.items === undefined ? "string" : "array";
}

function sampleObject(schema: JsonObject, root: JsonValue | undefined, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const entries = required.filter((name) => typeof name === "string")
    .map((name) => [name, sampleValue(properties[name], root, depth + 1)] as const);
  return Object.fromEntries(entries);
}

const STRINGS_BY_FORMAT: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ["date-time", "2026-01-02T03:04:05Z"],
  ["date", "2026-01-02"],
  ["time", "03:04:05Z"],
  ["duration", "P1D"],
  ["email", "someone@example.com"],
  ["hostname", "example.com"],
  ["uri", "https://example.com/"],
  ["ipv4", "192.0.2.1"],
  ["ipv6", "2001:db8::1"],
  ["uuid", "00000000-0000-4000-8000-000000000000"],
]);

function sampleString(schema: JsonObject): string {
  const text = STRINGS_BY_FORMAT.get(schema.format) ?? "text";
  return text.padEnd(numberOf(schema.minLength) ?? 0, "x").slice(
    0,
    numberOf(schema.maxLength) ?? undefined,
  );
}
