import { type Result, success } from "../../core/failure/result.ts";
import { listedPath } from "../../prompt/carry.ts";
import type { FunctionTool } from "../../prompt/prompt.ts";
import type { PromiseOf } from "../verified/response_promise.ts";
import type { StrictSchemas } from "../verified/strict_schemas.ts";
import { strictPromises } from "../verified/strict_tools.ts";
import type { Target } from "../wire.ts";

/** A strict function with the client's own schema. */
export type StrictFunction = Pick<FunctionTool, "name" | "parameters" | "strict">;

/** Treatment of strict functions whose schemas the host gets changed. */
export interface KeptPromises {
  /** Absent for none. */
  readonly promises?: readonly PromiseOf<"strict">[];
  /** Paths of the promises that are not checked. */
  readonly lossy: readonly string[];
}

/**
 * Returns the promises of strict functions whose schemas the host gets changed: it cannot enforce
 * what it does not know, so the gateway compares the calls with the schemas of the client. With
 * `verify: false`, and if the response may have several choices, they are lost. A Refusal names a
 * schema that cannot be checked.
 */
export function changedPromises(
  functions: readonly StrictFunction[],
  { target, schemas, hasChoices = false }: {
    readonly target: Target;
    readonly schemas: StrictSchemas;
    readonly hasChoices?: boolean;
  },
): Result<KeptPromises> {
  if (functions.length === 0) return success({ lossy: [] });
  if (!target.provider.settings.verify || hasChoices) {
    const lossy = functions.flatMap(({ strict }) => strict === null ? [] : listedPath(strict.at));
    return success({ lossy });
  }
  const promises = strictPromises(functions, schemas);
  return promises.ok ? success({ promises: promises.value, lossy: [] }) : promises;
}
