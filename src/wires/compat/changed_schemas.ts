import type { Failed } from "../../core/failure/result.ts";
import { type Carrier, listedPath } from "../../prompt/carry.ts";
import type { FunctionTool } from "../../prompt/prompt.ts";
import type { StrictSchemas } from "../verified/strict_schemas.ts";
import { strictPromises } from "../verified/strict_tools.ts";
import type { Target } from "../wire.ts";

/** A strict function with the client's own schema. */
export type StrictFunction = Pick<FunctionTool, "name" | "parameters" | "strict">;

/** Request with strict functions. */
interface StrictRequest {
  readonly target: Target;
  readonly schemas: StrictSchemas;
  readonly carrier: Carrier;
  readonly hasChoices?: boolean;
}

/**
 * Promises what strict functions require whose schemas the host gets changed: it cannot enforce
 * what it does not know, so the gateway compares the calls with the schemas of the client. With
 * `verify: false`, and if the response may have several choices, they are lost (`lose`). A Refusal
 * names a schema that cannot be checked.
 */
export function promiseChanged(
  functions: readonly StrictFunction[],
  lose: (path: string) => void,
  { target, schemas, carrier, hasChoices = false }: StrictRequest,
): Failed | null {
  if (!target.provider.settings.verify || hasChoices) {
    for (const { strict } of functions) if (strict !== null) lose(listedPath(strict.at));
    return null;
  }
  const promises = strictPromises(functions, { schemas, carrier });
  if (!promises.ok) return promises;
  carrier.promise(...promises.value);
  return null;
}
