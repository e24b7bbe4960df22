import { isObject, type JsonObject } from "../core/json/json.ts";

/** A response stored by the gateway. */
export interface Snapshot {
  /** The response resource that the client received. */
  readonly resource: JsonObject;
  /** All input items of the model, oldest first, each with an ID. */
  readonly input: readonly JsonObject[];
}

/** Returns the output items of a response. */
export function outputOf({ resource }: Pick<Snapshot, "resource">): readonly JsonObject[] {
  return Array.isArray(resource.output) ? resource.output.filter(isObject) : [];
}
