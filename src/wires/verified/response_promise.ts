import type { PromiseKind } from "../../data/promise_kind.ts";
import type { SchemaCheck } from "./schema_check.ts";

/**
 * A field of the request that the gateway checks on the response, with the parameters of the check.
 */
export type ResponsePromise =
  & {
    /** Path of the request field, such as `tools[0].function.strict`. */
    readonly path: string;
  }
  & (
    | {
      readonly kind: "strict";
      /** Name of the function whose arguments are checked. */
      readonly name: string;
      readonly schema: SchemaCheck;
    }
    | {
      readonly kind: "tool_choice";
      /** Names of the functions, one of which must be called, and no other. */
      readonly permitted: readonly string[];
      /** True if a call is required; false if the choice only limits which functions are called. */
      readonly isRequired: boolean;
      /** True if the text of the response is the arguments of the only permitted function. */
      readonly isText: boolean;
    }
    | { readonly kind: "parallel_tool_calls" }
    | { readonly kind: "json_object"; readonly permitsCalls: boolean }
    | {
      readonly kind: "json_schema";
      readonly schema: SchemaCheck;
      /** True if the response may consist of calls, with which any text is permitted. */
      readonly permitsCalls: boolean;
    }
    | {
      readonly kind: "stop";
      /** Texts before which the text of the response ends; none of them is empty. */
      readonly texts: readonly string[];
    }
  );

/** The promise of one kind. */
export type PromiseOf<Kind extends PromiseKind> = ResponsePromise & { readonly kind: Kind };

/** Returns the paths of the request fields of promises, each once, in their order. */
export function pathsOf(promises: readonly ResponsePromise[]): readonly string[] {
  return [...new Set(promises.map(({ path }) => path))];
}

/**
 * Returns the promises to a client whose values the provider does not get: `restore` returns a JSON
 * text of the provider as the client reads it.
 */
export function restoredPromises(
  promises: readonly ResponsePromise[],
  restore: (text: string) => string,
): readonly ResponsePromise[] {
  return promises.map((promise) =>
    promise.kind === "strict" || promise.kind === "json_schema"
      ? { ...promise, schema: promise.schema.restored(restore) }
      : promise
  );
}
