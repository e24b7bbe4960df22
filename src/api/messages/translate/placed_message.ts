import type { JsonObject } from "../../../core/json/json.ts";

/** Chat message for the upstream, with the client's paths of its parts. */
export interface PlacedMessage {
  readonly message: JsonObject;
  /** Path of the client's message, or of the block of a tool result. */
  readonly at: string;
  /** Path of each content part. */
  readonly partsAt: readonly string[];
  /** Path of the first block of thinking; absent for none. */
  readonly reasoningAt?: string;
  /** Path of each tool call. */
  readonly callsAt: readonly string[];
}
