import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../src/core/json/json.ts";
import { assert } from "../../support/assert.ts";

const FILE = new URL("../../golden/openai-schemas.json", import.meta.url);

/** A field of the published request, wherever it is nested. */
export interface Field {
  /** As an error names it. */
  readonly path: string;
  /** Every schema that its value may follow. */
  readonly schemas: readonly JsonObject[];
  /** A request in which it has this value, and as little else as may be. */
  request(value: JsonValue): JsonObject;
}

const DEFINITIONS = (() => {
  const bundle = parseJson(Deno.readTextFileSync(FILE));
  assert(isObject(bundle) && isObject(bundle.$defs));
  return bundle.$defs;
})();

/** The object that a value must be. */
export function objectIn(value: JsonValue | undefined): JsonObject {
  assert(isObject(value), JSON.stringify(value));
  return value;
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}

/** The alternatives of a schema, none of them a reference or a choice any more. */
function alternatives(schema: JsonObject): readonly JsonObject[] {
  if (typeof schema.$ref === "string") {
    return alternatives(objectIn(DEFINITIONS[schema.$ref.replace("#/$defs/", "")]));
  }
  if (Array.isArray(schema.anyOf)) return objectsIn(schema.anyOf).flatMap(alternatives);
  return [schema];
}

/** The properties of an object, those of all it consists of. */
function propertiesOf(schema: JsonObject): readonly (readonly [key: string, schema: JsonObject])[] {
  const own = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return [
    ...objectsIn(schema.allOf).flatMap(alternatives).flatMap(propertiesOf),
    ...own.map(([key, value]) => [key, objectIn(value)] as const),
  ];
}

/** The smallest value of a schema. */
export function smallest(schema: JsonObject): JsonValue {
  const [first = {}] = alternatives(schema);
  if (first.const !== undefined) return first.const;
  if (Array.isArray(first.enum)) return first.enum[0] ?? null;
  switch (first.type) {
    case "string":
      return "x";
    case "integer":
      return typeof first.minimum === "number" ? first.minimum : 1;
    case "number":
      return 0.5;
    case "boolean":
      return true;
    case "array":
      return [];
    case "null":
      return null;
    default:
      return smallestObject(first);
  }
}

function smallestObject(schema: JsonObject): JsonObject {
  const required = [schema, ...objectsIn(schema.allOf).flatMap(alternatives)]
    .flatMap(({ required: names }) => Array.isArray(names) ? names : []);
  const members = propertiesOf(schema).filter(([key]) => key === "type" || required.includes(key));
  return Object.fromEntries(members.map(([key, value]) => [key, smallest(value)]));
}

/**
 * The member that distinguishes the variants of an object. Variants without one count as one
 * variant.
 */
function variantOf(schema: JsonObject): string {
  const type = propertiesOf(schema).find(([key]) => key === "type")?.[1];
  return type === undefined ? "" : JSON.stringify(smallest(type));
}

/** Every field below this one; one that holds itself again is not followed further. */
function* below(field: Field, above: readonly string[]): Generator<Field> {
  yield field;
  const { path, schemas, request } = field;
  for (const { type, items, additionalProperties: each } of schemas) {
    if (type === "array" && isObject(items)) {
      const element = alternatives(items);
      yield* below({
        path: `${path}[0]`,
        schemas: element,
        request: (value) => request([value]),
      }, above);
    }
    if (isObject(each) && Object.keys(each).length > 0) {
      const at = `${path}.some`;
      const value = (inner: JsonValue) => request({ some: inner });
      yield* below({ path: at, schemas: alternatives(each), request: value }, above);
    }
  }
  const objects = schemas.filter((schema) => propertiesOf(schema).length > 0);
  for (const variants of Map.groupBy(objects, variantOf).values()) {
    const [first = {}] = variants;
    const name = JSON.stringify(first);
    if (above.includes(name)) continue;
    for (const [key, found] of Map.groupBy(variants.flatMap(propertiesOf), ([key]) => key)) {
      const whole = { ...smallestObject(first) };
      yield* below({
        path: path === "" ? key : `${path}.${key}`,
        schemas: found.flatMap(([, schema]) => alternatives(schema)),
        request: (value) => request({ ...whole, [key]: value }),
      }, [...above, name]);
    }
  }
}

/** Every field of the request, several times where several variants have it. */
export function requestFields(): readonly Field[] {
  const [body = {}] = alternatives({ $ref: "#/$defs/CreateResponse" });
  const root: Field = {
    path: "",
    schemas: [body],
    request: (value) => ({ input: "hi", ...objectIn(value) }),
  };
  // The values of metadata have a refusal that says more.
  return [...below(root, [])].slice(1).filter(({ path }) => path !== "metadata.some");
}
