import type { JsonObject } from "../../core/json/json.ts";
import { type Binding, type Caller, creatorOf, isVisibleTo, mergeBinding } from "../bindings.ts";
import type { Owner } from "../bindings.ts";
import type { FoundResponse, NewResponse, ResponseItem } from "../object_store.ts";
import { outputOf } from "../snapshots.ts";

/** What a read finds of an object whose writes wait; null for a deleted object. */
export type PendingView = FoundResponse | null;

/** Returns the view after an account has returned the ID to a caller; see `OwnerStore.bind`. */
export function viewAfterBind(view: PendingView, owner: Owner): FoundResponse {
  if (view === null) return { binding: { kind: "bound", owner }, snapshot: null };
  const binding = mergeBinding(view.binding, owner) ?? view.binding;
  return { binding, snapshot: binding.kind === "conflict" ? null : view.snapshot };
}

/** Returns the view after a response was stored; see `ResponseStore.store`. */
export function viewAfterStore(
  view: PendingView,
  { owner, snapshot, isNative }: NewResponse,
  caller: Caller,
): PendingView {
  const mayStore = view === null ||
    (view.binding.kind === "bound" && isVisibleTo(caller, creatorOf(view.binding)));
  if (!mayStore && !isNative) return view;
  const next = viewAfterBind(view, owner);
  return mayStore && next.binding.kind === "bound" ? { ...next, snapshot } : next;
}

/**
 * True if the caller may delete the object of a view that an account owns; see `OwnerStore.unbind`.
 */
export function mayUnbind(view: PendingView, account: string, caller: Caller): boolean {
  const binding: Binding | null = view?.binding ?? null;
  return binding?.kind === "bound" && binding.owner.account === account &&
    isVisibleTo(caller, creatorOf(binding));
}

/**
 * Returns the items of a view with these IDs. Of two items with the same ID the later item is used.
 */
export function itemsOfView(
  view: PendingView,
  ids: ReadonlySet<string>,
): readonly ResponseItem[] {
  if (view === null || view.snapshot === null) return [];
  const { binding, snapshot } = view;
  const found = new Map<string, JsonObject>();
  for (const item of [...snapshot.input, ...outputOf(snapshot)]) {
    if (typeof item.id === "string" && ids.has(item.id)) found.set(item.id, item);
  }
  return [...found].map(([id, item]) => ({ id, item, binding }));
}
