import type { ProviderConfig } from "../../config/schema.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { Format, Prompt } from "../../prompt/prompt.ts";
import { isEmpty } from "../../prompt/refusals.ts";
import type { ChatRequest } from "../chat_request/chat_request.ts";
import { formatPromises } from "../verified/format_promises.ts";
import type { ResponsePromise } from "../verified/response_promise.ts";
import { parseStops } from "../verified/stop_promises.ts";
import { newStrictSchemas } from "../verified/strict_schemas.ts";
import { isAnyObject } from "./closed_schema.ts";
import { isStopSequence } from "./controls.ts";

/** Returns the fields of an encodable request that the Messages API does not enforce. */
export function promisesOf(
  { document: { value }, schemas = newStrictSchemas() }: ChatRequest,
  settings: ProviderConfig,
): readonly ResponsePromise[] {
  if (!settings.verify) return [];
  const stops = parseStops(value.stop, { isSent: isStopSequence, verify: true });
  const format = formatOf(value);
  const mayCall = value.tool_choice !== "none" && value.function_call !== "none" &&
    !(isEmpty(value.tools) && isEmpty(value.functions));
  const any = format?.kind === "json_schema" && isAnyObject(format.schema.value)
    ? [{ kind: "json_object", path: format.schema.at.path, permitsCalls: mayCall } as const]
    : [];
  const prompt: Pick<Prompt, "format" | "tools" | "choice"> = {
    format,
    tools: [],
    choice: { kind: "unset" },
  };
  const formats = formatPromises(prompt, settings, schemas, false).map((promise) =>
    "permitsCalls" in promise ? { ...promise, permitsCalls: mayCall } : promise
  );
  return [...stops.ok ? stops.value.promises : [], ...any, ...formats];
}

/** Returns the format of a Chat request that is valid; null if it has none. */
function formatOf({ response_format: format }: JsonObject): Format | null {
  if (!isObject(format)) return null;
  const at = { field: "response_format", path: "response_format" } as const;
  const named = format.json_schema;
  if (format.type === "json_object") return { kind: "json_object", at };
  if (!isObject(named) || !isObject(named.schema)) return null;
  const path = `${at.path}.json_schema`;
  return {
    kind: "json_schema",
    at,
    name: null,
    description: null,
    schema: { value: named.schema, at: { ...at, path: `${path}.schema` } },
    strict: typeof named.strict === "boolean"
      ? { value: named.strict, at: { ...at, path: `${path}.strict` } }
      : null,
  };
}
