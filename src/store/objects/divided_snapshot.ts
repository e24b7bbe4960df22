import { isObject, type JsonObject } from "../../core/json/json.ts";
import { outputOf, type Snapshot } from "../snapshots.ts";

/** A response divided into its resource and its items, which are stored apart. */
export interface DividedSnapshot {
  /** The resource; its output is an empty list if the output items are among `items`. */
  readonly resource: JsonObject;
  /** Input items, then output items. */
  readonly items: readonly JsonObject[];
  /** Number of input items. */
  readonly inputs: number;
}

/** Divides a response. Output that has other values than objects stays in the resource. */
export function divideSnapshot({ resource, input }: Snapshot): DividedSnapshot {
  const { output } = resource;
  const isList = Array.isArray(output) && output.length > 0 && output.every(isObject);
  if (!isList) return { resource, items: input, inputs: input.length };
  const items = [...input, ...outputOf({ resource })];
  return { resource: { ...resource, output: [] }, items, inputs: input.length };
}

/** Returns the response of its parts. */
export function joinSnapshot({ resource, items, inputs }: DividedSnapshot): Snapshot {
  const input = items.slice(0, inputs);
  if (items.length === inputs) return { resource, input };
  return { resource: { ...resource, output: items.slice(inputs) }, input };
}
