import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import type { Result } from "../../core/failure/result.ts";
import { newPatterns } from "./patterns.ts";
import type { SchemaCheck } from "../../prompt/response_promise.ts";
import { parseStrictSchema } from "./strict_schema.ts";

/** The strict schemas of one client request, each compiled once for all its targets. */
export interface StrictSchemas {
  /**
   * Returns the check of the schema at a path, as `parseStrictSchema`. Its numbers may be exact
   * texts.
   */
  parse(schema: JsonObject, path: string): Result<SchemaCheck>;
}

/** Returns the schemas of a request, which share one bound for their patterns. */
export function newStrictSchemas(): StrictSchemas {
  // Most requests have no schema.
  let known: Map<string, Result<SchemaCheck>> | null = null;
  let patterns: ReturnType<typeof newPatterns> | null = null;
  return {
    parse(schema, path) {
      known ??= new Map();
      patterns ??= newPatterns();
      const text = JSON.stringify(schema);
      const key = `${path} ${text}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const plain = parseJson(text);
      const parsed = parseStrictSchema(isObject(plain) ? plain : schema, path, patterns);
      known.set(key, parsed);
      return parsed;
    },
  };
}
