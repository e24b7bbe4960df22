import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { type Failed, refuse } from "../../core/result.ts";
import type { Call } from "../../gateway/call.ts";
import { ownerOf } from "../../gateway/owner.ts";
import type { Snapshot } from "../../state/snapshots.ts";
import { isReference } from "../kept_item.ts";
import type { ResponsesRequest } from "./request.ts";
import type { HistoryItem } from "./to_chat.ts";

/**
 * The new items of a request, with kept ones in place of what refers to them; one that is in the
 * history already is left out. What is not known stays as it is, and `missing` says so.
 */
export function resolved(
  call: Call,
  { input, document }: ResponsesRequest,
  history: readonly JsonObject[],
): { readonly added: readonly HistoryItem[]; readonly missing: Failed<Refusal> | null } {
  const isText = typeof document.value.input === "string";
  const ids = new Set(input.filter(isReference).map(({ id }) => id));
  const known = new Map(ids.size === 0 ? [] : keptItems(call, ids));
  const present = new Set(history.map(({ id }) => id));
  const added: HistoryItem[] = [];
  let missing: Failed<Refusal> | null = null;
  for (const [index, item] of input.entries()) {
    const path = isText ? "input" : `input[${index}]`;
    if (!isReference(item)) added.push({ item, path });
    else if (typeof item.id !== "string" || !present.has(item.id)) {
      const kept = known.get(item.id);
      added.push({ item: kept ?? item, path, isKept: kept !== undefined });
      if (kept !== undefined) continue;
      missing ??= refuse("invalid_value", "There is no item with this id.", `${path}.id`);
    }
  }
  return { added, missing };
}

/** The kept items with these ids, each with its id; of two with the same the later one counts. */
function* keptItems(
  call: Call,
  ids: ReadonlySet<JsonObject[string]>,
): Generator<readonly [JsonObject[string], JsonObject]> {
  const { snapshots, conversations } = call.vault;
  const lists = [
    ...conversations.values().map(({ items }) => items),
    ...snapshots.values().filter((snapshot) => isCurrent(call, snapshot))
      .flatMap((snapshot) => [snapshot.input, outputOf(snapshot)]),
  ];
  for (const item of lists.flat()) {
    if (ids.has(item.id)) yield [item.id, item];
  }
}

/** What belongs to an account that has changed since is not to be handed on. */
function isCurrent(call: Call, { resource: { id } }: Snapshot): boolean {
  const param = "response_id";
  return typeof id === "string" &&
    ownerOf(call, { type: "response", id, param, provider: null }).ok;
}

/** The items that a kept response has given. */
export function outputOf({ resource }: Pick<Snapshot, "resource">): readonly JsonObject[] {
  return Array.isArray(resource.output) ? resource.output.filter(isObject) : [];
}
