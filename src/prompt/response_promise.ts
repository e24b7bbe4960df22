/** Work that the checks of one response may still cause, over all its calls and texts. */
export interface CheckBudget {
  /** Remaining steps. Negative once they are used up: then the response is not checked further. */
  steps: number;
  /** Remaining levels of checks within each other. */
  levels: number;
}

/** The check of a strict schema, which is built when it is first used. */
export interface SchemaCheck {
  /** Number of schemas and `enum` values, to which the time to build it is proportional. */
  readonly nodes: number;
  /**
   * Returns what a JSON text is instead of an object of the schema, as words; null if it is one.
   * Without meaning once the steps of the budget are used up.
   */
  problem(text: string, budget: CheckBudget): string | null;
  /**
   * Returns the check of what a client receives against what it has sent: `restore` returns a JSON
   * text of the provider, or of the request to it, as the client reads and writes it.
   */
  restored(restore: (text: string) => string): SchemaCheck;
}

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
export type PromiseOf<Kind extends ResponsePromise["kind"]> = ResponsePromise & {
  readonly kind: Kind;
};

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
