import type { Failed } from "../../core/failure/result.ts";
import { listedPath } from "../../prompt/carry.ts";
import type { FunctionTool } from "../../prompt/prompt.ts";
import { strictPromises } from "../verified/strict_tools.ts";
import type { Encoding } from "../wire.ts";

/** A strict function with the client's own schema. */
export type StrictFunction = Pick<FunctionTool, "name" | "parameters" | "strict">;

/**
 * Promises what strict functions require whose schemas the host gets changed: it cannot enforce
 * what it does not know, so the gateway compares the calls with the schemas of the client. With
 * `verify: false`, and if the response may have several choices, they are lost (`lose`). A Refusal
 * names a schema that cannot be checked.
 */
export function promiseChanged(
  functions: readonly StrictFunction[],
  lose: (path: string) => void,
  { target, schemas, carrier, hasChoices = false }: Encoding & { readonly hasChoices?: boolean },
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
