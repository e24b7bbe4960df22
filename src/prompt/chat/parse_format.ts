import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../carry.ts";
import type { FieldRef, Format } from "../prompt.ts";
import { allIn, flagOf, textOf } from "../read.ts";
import { missing, type Optional, unsupported, wrongType } from "../refusals.ts";

const PATH = "response_format";

/**
 * Returns the format of the response (OpenAI API, structured outputs); null if the request sets
 * none.
 */
export function parseFormat(given: JsonValue, carrier: Carrier): Result<Format | null> {
  if (given === null) return success(null);
  if (!isObject(given)) return wrongType(PATH, "an object");
  const { type } = given;
  if (type !== "text" && type !== "json_object" && type !== "json_schema") {
    return unsupported(`${PATH}.type`);
  }
  const at: FieldRef = {
    field: `${PATH}[${type}]`,
    path: PATH,
    ...type === "json_object" && { refusedPath: `${PATH}.type` },
  };
  const refused = carrier.use(at) ?? carrier.unknown(given, `${PATH}[${type}]`, PATH);
  if (refused !== null) return refused;
  return type === "json_schema"
    ? schemaFormat(given.json_schema, at, carrier)
    : success({ kind: type, at });
}

function schemaFormat(given: Optional, at: FieldRef, carrier: Carrier): Result<Format> {
  const path = `${PATH}.json_schema`;
  if ((given ?? null) === null) return missing(path);
  if (!isObject(given)) return wrongType(path, "an object");
  const holder = `${PATH}[json_schema].json_schema` as const;
  const unknown = carrier.unknown(given, holder, path);
  if (unknown !== null) return unknown;
  const member = <Name extends "name" | "description" | "strict">(name: Name) =>
    ({ field: `${holder}.${name}`, path: `${path}.${name}` }) as const;
  const read = allIn({
    name: textOf(given.name, member("name")),
    description: textOf(given.description, member("description")),
    schema: parseSchema(given, `${path}.schema`),
    strict: flagOf(given.strict, member("strict")),
  });
  if (!read.ok) return read;
  for (const label of [read.value.name, read.value.description, read.value.strict]) {
    const refused = label === null ? null : carrier.use(label.at);
    if (refused !== null) return refused;
  }
  return success({ kind: "json_schema", at, ...read.value });
}

function parseSchema({ schema }: JsonObject, path: string) {
  if ((schema ?? null) === null) return missing(path);
  if (!isObject(schema)) return wrongType(path, "an object");
  const at = { field: "response_format[json_schema].json_schema.schema", path } as const;
  return success({ value: schema, at });
}
