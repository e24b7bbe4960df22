import { isObject, type JsonObject } from "../core/json/json.ts";

/** A response that the gateway stores itself. */
export interface Snapshot {
  /** The whole resource, as the client got it. */
  readonly resource: JsonObject;
  /** Everything the model was given, oldest first; every item has an id. */
  readonly input: readonly JsonObject[];
}

/** Returns the items that a response has as its output. */
export function outputOf({ resource }: Pick<Snapshot, "resource">): readonly JsonObject[] {
  return Array.isArray(resource.output) ? resource.output.filter(isObject) : [];
}
