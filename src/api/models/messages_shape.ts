import { contradiction } from "../../prompt/refusals.ts";
import type { ListedNamedModel } from "../../call/generation.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { refuse, type Result, success } from "../../core/failure/result.ts";

const MAX_PAGE_MODELS = 1000;
const DEFAULT_PAGE_MODELS = 20;

/** A model by its canonical id. */
export interface ListedModel {
  readonly id: string;
  /** Time of the fetch of its list, in seconds since 1970. */
  readonly created: number;
  /** Members that the configuration knows of a named model; absent for a discovered one. */
  readonly named?: ListedNamedModel;
}

/** The requested page of the list. */
interface ModelPage {
  readonly limit: number;
  /** Id before the first model of the page. */
  readonly after: string | null;
  /** Id behind the last model of the page. */
  readonly before: string | null;
}

/**
 * Returns one page of models: named ones, then those sorted by id (Messages API, models). `limit`
 * is 1 to 1000, 20 if absent; `before_id` gives the page that ends right before that id. The ids
 * need not be in the list, which may have changed since the page before.
 */
export function modelPage(
  models: readonly ListedModel[],
  query: URLSearchParams,
): Result<JsonObject> {
  const parsed = parsePage(query);
  if (!parsed.ok) return parsed;
  const { limit, after, before } = parsed.value;
  const placeOf = newPlaces(models);
  const meant = models.filter(({ id }) =>
    (after === null || isBehind(placeOf(id), placeOf(after))) &&
    (before === null || isBehind(placeOf(before), placeOf(id)))
  );
  const data = before === null ? meant.slice(0, limit) : meant.slice(-limit);
  return success({
    data: data.map(modelObject),
    has_more: meant.length > data.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  });
}

/** Place of an id in the list: the index of a named model; Infinity and the id of another one. */
type ListPlace = readonly [index: number, id: string];

function newPlaces(models: readonly ListedModel[]): (id: string) => ListPlace {
  const named = new Map(
    models.flatMap(({ id, named }, index) => named === undefined ? [] : [[id, index] as const]),
  );
  // A name without a slash that is not in the list was that of a named model.
  const isOther = (id: string) => named.size === 0 || id.includes("/");
  return (id) => [named.get(id) ?? Infinity, isOther(id) ? id : ""];
}

function isBehind([index, id]: ListPlace, [otherIndex, otherId]: ListPlace): boolean {
  return index === otherIndex ? id > otherId : index > otherIndex;
}

function parsePage(query: URLSearchParams): Result<ModelPage> {
  const [after, before] = [query.get("after_id"), query.get("before_id")];
  if (after !== null && before !== null) {
    return contradiction("before_id", "Send either 'after_id' or 'before_id', not both.");
  }
  const written = query.get("limit") ?? String(DEFAULT_PAGE_MODELS);
  const limit = /^\d{1,4}$/.test(written) ? Number(written) : 0;
  if (limit < 1 || limit > MAX_PAGE_MODELS) {
    return refuse(
      "invalid_value",
      { kind: "unexpected", expected: `a number from 1 to ${MAX_PAGE_MODELS}` },
      "limit",
    );
  }
  return success({ limit, after, before });
}

/** Returns a model as the Messages API shows it. What the gateway does not know of it is null. */
export function modelObject({ id, created, named }: ListedModel): JsonObject {
  return {
    type: "model",
    id,
    display_name: named?.displayName ?? id,
    created_at: new Date(created * 1000).toISOString(),
    max_input_tokens: named?.contextSize ?? null,
    max_tokens: named?.maxOutput ?? null,
    capabilities: null,
    deprecated_at: null,
    lifecycle: "active",
    line: null,
    retires_at: null,
  };
}
