import { isObject, type JsonDocument, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { type Edit, parseElements, replaceValue, splice } from "../../formats/edit.ts";
import type { Call } from "../../call/call.ts";
import { isHidden, mayUseUnknown, refuseOrigin } from "../../routing/ownership.ts";
import type { Binding, Shown } from "../../store/bindings.ts";
import { shownText } from "./shown_object.ts";
import type { BoundType } from "../../store/object_store.ts";

/**
 * Number of consecutive pages with objects of other clients only, after which a response has none.
 */
export const MAX_HIDDEN_PAGES = 100;

/** Number of objects of a page while pages with objects of other clients are skipped. */
export const MAX_SKIPPED_COUNT = 100;

/**
 * Returns the number of objects that the query of a list asks for; `Infinity` without a `limit` and
 * for one that asks for none, which some providers accept.
 */
export function limitOf(query: URLSearchParams): number {
  const limit = Number(query.get("limit"));
  return Number.isInteger(limit) && limit > 0 ? limit : Infinity;
}

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
 * Returns a page without the objects that the client may not see, with at most `limit` others, each
 * as the client sees it.
 */
export async function ownPage(
  call: Call,
  document: JsonDocument,
  listed: ListedObjects,
  limit: number,
): Promise<Result<OwnPage>> {
  const ids = objectsOf(document).map(({ id = null }) => id);
  const visible = await visibleObjects(call, ids.filter(isText), listed);
  if (!visible.ok) return visible;
  return success(pageOf(document, limit, {
    isShown: ({ id = null }) => !isText(id) || visible.value.has(id),
    written: ({ id = null }, text) =>
      shownText(text, isText(id) ? visible.value.get(id) : undefined),
  }));
}

/** Changes of the objects of a page. */
interface PageRules {
  isShown(object: JsonObject): boolean;
  /** Returns the text of an object for the client; absent for its own. */
  written?(object: JsonObject, text: string): string;
}

/**
 * Returns a page with at most `limit` of the objects that are shown; all other bytes are unchanged.
 * A page without any that is not the last one has the ID of its last object as cursor.
 */
export function pageOf(
  document: JsonDocument,
  limit: number,
  { isShown, written = (_, text) => text }: PageRules,
): OwnPage {
  const { text, value, members } = document;
  const objects = objectsOf(document);
  const kept = [...objects.entries()].filter(([, object]) => isShown(object));
  const shown = kept.slice(0, limit);
  const data = members.find(({ key }) => key === "data");
  const spans = data === undefined ? [] : parseElements(text, data.start);
  const texts = shown.map(([index, object]) => {
    const own = text.slice(spans[index]?.start, spans[index]?.end);
    return { own, sent: written(object, own) };
  });
  const isChanged = texts.some(({ own, sent }) => own !== sent);
  if (shown.length === objects.length && !isChanged) return { text: null, next: null };
  const last = objects.at(-1)?.id ?? null;
  const next = shown.length === 0 && value.has_more === true && isText(last) ? last : null;
  const edits = members.flatMap(({ key, start, end }): Edit[] => {
    if (key === "data") {
      return [replaceValue({ start, end }, `[${texts.map(({ sent }) => sent).join(",")}]`)];
    }
    if (key === "has_more" && shown.length < kept.length) {
      return [replaceValue({ start, end }, "true")];
    }
    if (key !== "first_id" && key !== "last_id") return [];
    const id = shown.at(key === "first_id" ? 0 : -1)?.[1].id ?? null;
    const cursor = shown.length > 0 ? id : key === "last_id" ? next : null;
    return [replaceValue({ start, end }, JSON.stringify(isText(cursor) ? cursor : null))];
  });
  return { text: splice(text, edits), next };
}

/** Returns the objects of a page; an empty one for what is none. */
function objectsOf({ value: { data } }: JsonDocument): readonly JsonObject[] {
  return Array.isArray(data) ? data.map((one) => isObject(one) ? one : {}) : [];
}

/**
 * Returns those of the IDs whose objects the client may see, each with how the client of a named
 * model sees it.
 */
export async function visibleObjects(
  call: Call,
  ids: readonly string[],
  { type, idOf }: ListedObjects,
): Promise<Result<ReadonlyMap<string, Shown | undefined>>> {
  if (!isRewritten(call)) return success(new Map(ids.map((id) => [id, undefined])));
  const bindings = await call.state.objects.owners[type].findBindings(ids.map(idOf));
  if (!bindings.ok) return bindings;
  const found = ids.map((id) => [id, bindings.value.get(idOf(id)) ?? null] as const);
  const visible = isFiltered(call) ? found.filter(([, one]) => isListed(call, one)) : found;
  return success(
    new Map(
      visible.map(([id, one]) =>
        [id, one?.kind === "bound" ? one.owner.origin?.shown : undefined] as const
      ),
    ),
  );
}

/** True if a page of a list may differ from that of its account. */
export function isRewritten(call: Call): boolean {
  return isFiltered(call) || call.generation.routes.some(({ preset }) => preset !== undefined);
}

/** True if the client may not see every object of an account. */
function isFiltered({ caller, client: { key } }: Call): boolean {
  return caller.isIsolated || (key?.permissions?.models ?? null) !== null;
}

/** True if the client may see an object with this binding, and its key may use the model. */
function isListed(call: Call, binding: Binding | null): boolean {
  if (binding === null) return mayUseUnknown(call);
  if (isHidden(call, binding)) return false;
  if (binding.kind !== "bound") return true;
  const { provider, origin } = binding.owner;
  return refuseOrigin(call, provider, origin) === null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
