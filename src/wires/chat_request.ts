import type { JsonDocument } from "../core/json/json.ts";
import type { OwnedReasoning } from "../core/stream/reasoning.ts";
import type { StrictSchemas } from "./verified/strict_schemas.ts";

/**
 * A client request as a Chat Completions document with validated field types. Every translation to
 * an upstream protocol starts from it.
 */
export interface ChatRequest {
  readonly document: JsonDocument;
  readonly stream: boolean;
  /** True if the client requested the usage chunk at the end of its stream. */
  readonly includeUsage: boolean;
  /**
   * Stored reasoning of assistant messages that come without it, by the index of the message;
   * absent for none.
   */
  readonly reasoning?: ReadonlyMap<number, OwnedReasoning>;
  /**
   * Strict schemas, which all targets of the client's request share; absent if there is one target.
   */
  readonly schemas?: StrictSchemas;
}
