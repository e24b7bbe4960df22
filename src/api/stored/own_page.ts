import { isObject, type JsonDocument } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { type Edit, parseElements, replaceValue, splice } from "../../formats/edit.ts";
import type { Call } from "../../call/call.ts";
import { isHidden, mayUseUnknown } from "../../call/ownership.ts";
import { refuseModel } from "../../access/permissions.ts";
import type { Binding } from "../../store/bindings.ts";
import type { BoundType } from "../../store/object_store.ts";

/**
 * Number of consecutive pages with objects of other clients only, after which a response has none.
 */
export const MAX_HIDDEN_PAGES = 100;

/** Number of objects of a page while pages with objects of other clients are skipped. */
export const MAX_SKIPPED_COUNT = 100;

/** One page of an upstream's list, with only the objects that the client may see. */
export interface OwnPage {
  /** The page without the objects that the client may not see; null if it holds none of them. */
  readonly text: string | null;
  /** The cursor of the next page if this page holds no object of the client; null otherwise. */
  readonly next: string | null;
}

/** The objects of a list: their type, and the name under which the owner of an ID is stored. */
export interface ListedObjects {
  readonly type: Exclude<BoundType, "response">;
  idOf(id: string): string;
}

/**
 * Returns a page without the objects that the client may not see, with at most `limit` others; all
 * other bytes are unchanged. A page without any that is not the last one has the ID of its last
 * object as cursor.
 */
export async function ownPage(
  call: Call,
  { text, value, members }: JsonDocument,
  listed: ListedObjects,
  limit: number,
): Promise<Result<OwnPage>> {
  const ids = (Array.isArray(value.data) ? value.data : []).map((one) => isObject(one) && one.id);
  const visible = await visibleIds(call, ids.filter(isText), listed);
  if (!visible.ok) return visible;
  const kept = [...ids.keys()].filter((index) => {
    const id = ids[index];
    return !isText(id) || visible.value.has(id);
  });
  if (kept.length === ids.length && kept.length <= limit) {
    return success({ text: null, next: null });
  }
  const shown = kept.slice(0, limit);
  const last = ids.at(-1);
  const next = shown.length === 0 && value.has_more === true && isText(last) ? last : null;
  const edits = members.flatMap(({ key, start, end }): Edit[] => {
    if (key === "data") {
      const spans = parseElements(text, start);
      const data = shown.map((index) => text.slice(spans[index]?.start, spans[index]?.end));
      return [replaceValue({ start, end }, `[${data.join(",")}]`)];
    }
    if (key === "has_more" && shown.length < kept.length) {
      return [replaceValue({ start, end }, "true")];
    }
    if (key !== "first_id" && key !== "last_id") return [];
    const id = ids[shown.at(key === "first_id" ? 0 : -1) ?? -1];
    const cursor = shown.length > 0 ? id : key === "last_id" ? next : null;
    return [replaceValue({ start, end }, JSON.stringify(isText(cursor) ? cursor : null))];
  });
  return success({ text: splice(text, edits), next });
}

/** Returns those of the IDs whose objects the client may see. */
export async function visibleIds(
  call: Call,
  ids: readonly string[],
  { type, idOf }: ListedObjects,
): Promise<Result<ReadonlySet<string>>> {
  if (!isFiltered(call)) return success(new Set(ids));
  const bindings = await call.state.objects.owners[type].findBindings(ids.map(idOf));
  if (!bindings.ok) return bindings;
  const visible = ids.filter((id) => isListed(call, bindings.value.get(idOf(id)) ?? null));
  return success(new Set(visible));
}

/** True if the client may not see every object of an account. */
export function isFiltered({ caller, client: { key } }: Call): boolean {
  return caller.isIsolated || (key?.permissions?.models ?? null) !== null;
}

/** True if the client may see an object with this binding, and its key may use the model. */
function isListed(call: Call, binding: Binding | null): boolean {
  if (binding === null) return mayUseUnknown(call);
  if (isHidden(call, binding)) return false;
  if (binding.kind !== "bound") return true;
  const { provider, origin } = binding.owner;
  return refuseModel(call.client.key, provider, origin?.model ?? null) === null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
