import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";
import { type Failed, refuse } from "../../core/result.ts";
import type { Call } from "../../gateway/call.ts";
import { isHidden, isVisible, ownerOf } from "../../gateway/owner.ts";
import type { Snapshot } from "../../state/snapshots.ts";
import { isReference } from "../item_type.ts";
import type { ResponsesRequest } from "./request.ts";
import type { HistoryItem } from "./to_chat.ts";

/** The input items of a request after its references have been looked up. */
export interface Resolved {
  readonly added: readonly HistoryItem[];
  /** Refuses the first reference to an item that is not known here; null when all are known. */
  readonly missing: Failed<Refusal> | null;
  /** Refuses the first reference to an item that only another client has; null when there is none. */
  readonly hidden: Failed<Refusal> | null;
}

/**
 * The new items of a request, with kept ones in place of what refers to them; one that is in the
 * history already is left out. What is not known stays as it is, and `missing` says so.
 */
export function resolved(
  call: Call,
  { input, document }: ResponsesRequest,
  history: readonly JsonObject[],
): Resolved {
  const isText = typeof document.value.input === "string";
  const ids = new Set(input.filter(isReference).map(({ id }) => id));
  const { known, strange } = ids.size === 0 ? NO_ITEMS : keptItems(call, ids);
  const present = new Set(history.map(({ id }) => id));
  const added: HistoryItem[] = [];
  let missing: Failed<Refusal> | null = null;
  let hidden: Failed<Refusal> | null = null;
  for (const [index, item] of input.entries()) {
    const path = isText ? "input" : `input[${index}]`;
    if (!isReference(item)) added.push({ item, path });
    else if (typeof item.id !== "string" || !present.has(item.id)) {
      const kept = known.get(item.id);
      added.push({ item: kept ?? item, path, isKept: kept !== undefined });
      if (kept !== undefined) continue;
      missing ??= unknownItem(path);
      // Its provider may know it by the id alone, for every client.
      if (strange.has(item.id)) hidden ??= unknownItem(path);
    }
  }
  return { added, missing, hidden };
}

/**
 * Refuses a document whose input refers to an item that only another client has; null when it has no
 * such reference.
 */
export function hiddenItemProblem(call: Call, input: JsonValue | undefined): Failed | null {
  if (!call.caller.isIsolated || !Array.isArray(input)) return null;
  const references = input.map((item) => isObject(item) && isReference(item) ? item.id : undefined);
  const ids = new Set(references.filter((id) => id !== undefined));
  if (ids.size === 0) return null;
  const { known, strange } = keptItems(call, ids);
  const index = references.findIndex((id) => strange.has(id) && !known.has(id));
  return index < 0 ? null : unknownItem(`input[${index}]`);
}

function unknownItem(path: string): Failed<Refusal> {
  return refuse("invalid_value", "There is no item with this id.", `${path}.id`);
}

type ItemId = JsonObject[string];

/** Kept items by id: those of the caller, and the ids of those that do not exist for it. */
interface KeptItems {
  readonly known: ReadonlyMap<ItemId, JsonObject>;
  readonly strange: ReadonlySet<ItemId>;
}

const NO_ITEMS: KeptItems = { known: new Map(), strange: new Set() };

/** The kept items with these ids; of two of the caller with the same id the later one counts. */
function keptItems(call: Call, ids: ReadonlySet<ItemId>): KeptItems {
  const known = new Map<ItemId, JsonObject>();
  const strange = new Set<ItemId>();

  function add(items: readonly JsonObject[], isOwn: boolean): void {
    for (const item of items) {
      if (!ids.has(item.id)) continue;
      if (isOwn) known.set(item.id, item);
      else strange.add(item.id);
    }
  }

  for (const { items, creator } of call.vault.conversations.values()) {
    add(items, isVisible(call, creator));
  }
  for (const snapshot of call.vault.snapshots.values()) {
    const { id } = snapshot.resource;
    if (typeof id !== "string") continue;
    const isStrange = isHidden(call, "response", id);
    if (!isStrange && !isCurrent(call, id)) continue;
    add(snapshot.input, !isStrange);
    add(outputOf(snapshot), !isStrange);
  }
  return { known, strange };
}

/** What belongs to an account that has changed since is not to be handed on. */
function isCurrent(call: Call, id: string): boolean {
  return ownerOf(call, { type: "response", id, param: "response_id", provider: null }).ok;
}

/** The items that a kept response has given. */
export function outputOf({ resource }: Pick<Snapshot, "resource">): readonly JsonObject[] {
  return Array.isArray(resource.output) ? resource.output.filter(isObject) : [];
}
