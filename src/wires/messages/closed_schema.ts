import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { memberPath } from "../../prompt/carry.ts";

/** Called with the path of each object that is closed. */
type Lose = (path: string) => void;

/** Keywords with one schema, with a list of schemas, and with schemas by name. */
const SCHEMA_KEYS: ReadonlySet<string> = new Set(["items", "not"]);
const LIST_KEYS: ReadonlySet<string> = new Set(["anyOf", "allOf", "oneOf", "prefixItems"]);
const NAMED_KEYS: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

/**
 * Returns a JSON schema whose objects permit no properties besides those that are listed: the API
 * refuses every other object schema of a response format (Messages API, structured outputs). The
 * path of each object that changes is recorded as lossy. The schema is not nested too deeply.
 */
export function closeSchema(schema: JsonObject, path: string, lose: Lose): JsonObject {
  const closed = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      closeKeyword(key, value ?? null, memberPath(path, key), lose),
    ]),
  );
  if (!isObjectSchema(schema) || schema.additionalProperties === false) return closed;
  lose(`${path}.additionalProperties`);
  return { ...closed, additionalProperties: false };
}

function closeKeyword(key: string, value: JsonValue, path: string, lose: Lose): JsonValue {
  if (SCHEMA_KEYS.has(key)) return closeValue(value, path, lose);
  if (LIST_KEYS.has(key) && Array.isArray(value)) {
    return value.map((one, index) => closeValue(one, `${path}[${index}]`, lose));
  }
  if (!NAMED_KEYS.has(key) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      closeValue(one ?? null, memberPath(path, name), lose),
    ]),
  );
}

function closeValue(value: JsonValue, path: string, lose: Lose): JsonValue {
  return isObject(value) ? closeSchema(value, path, lose) : value;
}

/** True for the schema of an object that lists no properties: closed, it would permit only `{}`. */
export function isAnyObject(schema: JsonObject): boolean {
  return schema.type === "object" && schema.additionalProperties !== false &&
    Object.keys(isObject(schema.properties) ? schema.properties : {}).length === 0 &&
    !["$ref", "enum", "const", ...LIST_KEYS].some((key) => Object.hasOwn(schema, key));
}

/** True for a schema that permits objects: by its type, or by its properties if it has none. */
function isObjectSchema({ type, properties }: JsonObject): boolean {
  if ((type ?? null) === null) return isObject(properties);
  return type === "object" || (Array.isArray(type) && type.includes("object"));
}
