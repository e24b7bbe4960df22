import { isObject, type JsonDocument } from "../core/json/json.ts";
import { type Result, success } from "../core/result.ts";
import { type Edit, parseElements, replaceValue, splice } from "../formats/edit.ts";
import type { Call } from "../call/call.ts";
import { isHidden } from "../call/ownership.ts";
import { refuseModel } from "../call/permissions.ts";
import type { Binding } from "../state/bindings.ts";
import type { BoundType } from "../state/object_store.ts";

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

/** Returns a page without the objects that the client may not see; all other bytes are unchanged. */
export async function ownPage(
  call: Call,
  { text, value, members }: JsonDocument,
  { type, idOf }: ListedObjects,
): Promise<Result<OwnPage>> {
  const ids = (Array.isArray(value.data) ? value.data : []).map((one) => isObject(one) && one.id);
  const owners = call.state.objects.owners[type];
  const bindings = await owners.findBindings(ids.filter((id) => isText(id)).map(idOf));
  if (!bindings.ok) return bindings;
  const own = ids.map((id) => !isText(id) || isListed(call, bindings.value.get(idOf(id)) ?? null));
  if (!own.includes(false)) return success({ text: null, next: null });
  const visible = ids.filter((_, index) => own[index]);
  const last = ids.at(-1);
  const edits = members.flatMap(({ key, start, end }): Edit[] => {
    if (key === "data") {
      const spans = parseElements(text, start).filter((_, index) => own[index]);
      const data = spans.map((span) => text.slice(span.start, span.end)).join(",");
      return [replaceValue({ start, end }, `[${data}]`)];
    }
    if (key !== "first_id" && key !== "last_id") return [];
    const cursor = visible.at(key === "first_id" ? 0 : -1);
    return [
      replaceValue({ start, end }, JSON.stringify(typeof cursor === "string" ? cursor : null)),
    ];
  });
  const goesOn = visible.length === 0 && value.has_more === true && typeof last === "string";
  return success({ text: splice(text, edits), next: goesOn ? last : null });
}

/** True if the client may see an object with this binding, and its key may use the model. */
function isListed(call: Call, binding: Binding | null): boolean {
  if (isHidden(call, binding)) return false;
  if (binding?.kind !== "bound") return true;
  const { provider, origin } = binding.owner;
  return refuseModel(call.client.key, provider, origin?.model ?? null) === null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
