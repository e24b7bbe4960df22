import { isObject, type JsonDocument, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { ChatRequest } from "../chat_request/chat_request.ts";
import { type Optional, unsupported, wrongType } from "../chat_request/refusals.ts";
import { newPatterns, type Patterns } from "./patterns.ts";
import type { PromiseOf } from "./response_promise.ts";
import type { SchemaCheck } from "./schema_check.ts";
import { parseStrictSchema } from "./strict_schema.ts";

/** Maximum number of schemas and `enum` values in all strict functions of one request. */
const MAX_REQUEST_NODES = 5_000;

type StrictTools = Result<readonly PromiseOf<"strict">[]>;

/** Checks of the strict functions of requests: the targets of a request share one compiled schema. */
const known = new WeakMap<JsonDocument, StrictTools>();

/**
 * Returns a promise for each strict function of a request. Without `verify` a strict function is refused. A
 * Refusal names a schema that cannot be checked.
 */
export function strictPromises(
  { document, patterns = newPatterns() }: ChatRequest,
  source: "tools" | "functions",
  verify: boolean,
): StrictTools {
  if (!verify) return refuseStrict(document, source);
  const before = known.get(document);
  if (before !== undefined) return before;
  const promises = parsePromises(document, source, patterns);
  if (!promises.ok || promises.value.length > 0) known.set(document, promises);
  return promises;
}

function refuseStrict(document: JsonDocument, source: "tools" | "functions"): StrictTools {
  for (const { called, path } of functionsIn(document, source)) {
    if ((called.strict ?? false) !== false) {
      return unsupported(
        `${path}.strict`,
        "Send 'strict: false', or use a provider with 'verify: true'.",
      );
    }
  }
  return success([]);
}

function parsePromises(
  document: JsonDocument,
  source: "tools" | "functions",
  patterns: Patterns,
): StrictTools {
  const promises: PromiseOf<"strict">[] = [];
  let nodes = 0;
  for (const { called, path } of functionsIn(document, source)) {
    const strict = called.strict ?? false;
    if (typeof strict !== "boolean") return wrongType(`${path}.strict`, "true or false");
    if (!strict || typeof called.name !== "string") continue;
    const schema = parseParameters(called.parameters, `${path}.parameters`, patterns);
    if (!schema.ok) return schema;
    nodes += schema.value.nodes;
    if (nodes > MAX_REQUEST_NODES) {
      return unsupported(
        `${path}.strict`,
        `All strict functions together have more than ${MAX_REQUEST_NODES} parts; send 'strict: false'.`,
      );
    }
    promises.push({
      kind: "strict",
      path: `${path}.strict`,
      name: called.name,
      schema: schema.value,
    });
  }
  return success(promises);
}

/** Parameters of a function that has none (OpenAI API, function calling). */
const NO_PARAMETERS: JsonObject = { type: "object", properties: {}, additionalProperties: false };

function parseParameters(
  given: Optional,
  path: string,
  patterns: Patterns,
): Result<SchemaCheck> {
  const parameters = given ?? NO_PARAMETERS;
  return isObject(parameters)
    ? parseStrictSchema(parameters, path, patterns)
    : wrongType(path, "an object");
}

/** Returns the functions of a request with their paths. */
function functionsIn(
  { value }: JsonDocument,
  source: "tools" | "functions",
): readonly { readonly called: JsonObject; readonly path: string }[] {
  const list = value[source];
  if (!Array.isArray(list)) return [];
  return list.flatMap((item, index) => {
    const called = source === "tools" && isObject(item) ? item.function : item;
    const path = source === "tools" ? `tools[${index}].function` : `functions[${index}]`;
    return isObject(called) ? [{ called, path }] : [];
  });
}
