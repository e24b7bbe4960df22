import type { JsonDocument } from "../../core/json/json.ts";

/**
 * A request in the shape that every translation goes through: a Chat Completions document whose
 * known fields have been checked for their types, and what the road needs of it.
 */
export interface ChatRequest {
  readonly document: JsonDocument;
  readonly stream: boolean;
  /** The client asked for the usage chunk at the end of its stream. */
  readonly includeUsage: boolean;
}
