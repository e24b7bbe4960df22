import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { type Carrier, listedPath } from "../../prompt/carry.ts";
import type { FunctionTool } from "../../prompt/prompt.ts";
import type { PromiseOf } from "../../prompt/response_promise.ts";
import type { StrictSchemas } from "./strict_schemas.ts";

/** Maximum number of schemas and `enum` values in all strict functions of one request. */
const MAX_REQUEST_NODES = 5_000;

/** Parameters of a function that has none (OpenAI API, function calling). */
const NO_PARAMETERS: JsonObject = { type: "object", properties: {}, additionalProperties: false };

/** Returns a promise for each strict function. A Refusal names a schema that cannot be checked. */
export function strictPromises(
  tools: readonly Pick<FunctionTool, "name" | "parameters" | "strict">[],
  { schemas, carrier }: { readonly schemas: StrictSchemas; readonly carrier: Carrier },
): Result<readonly PromiseOf<"strict">[]> {
  const promises: PromiseOf<"strict">[] = [];
  let nodes = 0;
  for (const { name, parameters, strict } of tools) {
    if (strict?.value !== true) continue;
    const schema = schemas.parse(parameters.value ?? NO_PARAMETERS, parameters.at.path);
    if (!schema.ok) return schema;
    nodes += schema.value.nodes;
    if (nodes > MAX_REQUEST_NODES) {
      return carrier.refuse(
        strict.at,
        `All strict functions together have more than ${MAX_REQUEST_NODES} parts; send 'strict: false'.`,
      );
    }
    promises.push({
      kind: "strict",
      path: listedPath(strict.at),
      name: name.value,
      schema: schema.value,
    });
  }
  return success(promises);
}
