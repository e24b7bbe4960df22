import type { JsonObject } from "../../core/json/json.ts";

/** Item of the complete history that the model receives. */
export interface HistoryItem {
  readonly item: JsonObject;
  /** Path in the client's request, such as `input[3]`; null for a stored item. */
  readonly path: string | null;
  /** True if it is a stored item that replaces the client's reference. */
  readonly isStored?: boolean;
  /** The stored item, if providers get another one in its place; absent otherwise. */
  readonly original?: JsonObject;
}
