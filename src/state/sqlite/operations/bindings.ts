import {
  type Binding,
  type Caller,
  creatorOf,
  isVisibleTo,
  mergeBinding,
  type Owner,
} from "../../bindings.ts";
import type { BoundType } from "../../object_store.ts";
import { bindingBounds, jsonBytes } from "../../retention.ts";
import { type Row, textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import { readNumber, removeOldest } from "./table.ts";

/** An ID of one type of object. The ID is a `keyText`. */
export interface BoundId {
  readonly type: BoundType;
  readonly id: string;
}

/** Returns the binding of an ID; null without one. */
export const findBinding = {
  kind: "read" as const,
  run: (context: OperationContext, bound: BoundId): Binding | null => readBinding(context, bound),
};

/** Returns the bindings of IDs of one type. */
export const findBindings = {
  kind: "read" as const,
  run(
    { database, horizon }: OperationContext,
    { type, ids }: { readonly type: BoundType; readonly ids: readonly string[] },
  ): ReadonlyMap<string, Binding> {
    const rows = database.rows(
      `select id, body from binding
       where type = ? and id in (select value from json_each(?)) and changed > ?`,
      type,
      JSON.stringify(ids),
      horizon,
    );
    return new Map(rows.map((row) => [textOf(row, "id"), bindingOf(row)]));
  },
};

/** Binds an ID to an owner and returns its binding. */
export const bind = {
  kind: "write" as const,
  run: (
    context: OperationContext,
    { bound, owner }: { readonly bound: BoundId; readonly owner: Owner },
  ): Binding => bindOwner(context, bound, owner),
};

/** Removes a binding of this account that the caller may see. Returns true if there was one. */
export const unbind = {
  kind: "write" as const,
  run(
    context: OperationContext,
    { bound, account, caller }: {
      readonly bound: BoundId;
      readonly account: string;
      readonly caller: Caller;
    },
  ): boolean {
    const binding = readBinding(context, bound);
    return binding?.kind === "bound" && binding.owner.account === account &&
      isVisibleTo(caller, creatorOf(binding)) && removeBinding(context, bound);
  },
};

/** Returns the binding of an ID that has not expired; null without one. */
export function readBinding(
  { database, horizon }: OperationContext,
  { type, id }: BoundId,
): Binding | null {
  const row = database.row(
    "select body from binding where type = ? and id = ? and changed > ?",
    type,
    id,
    horizon,
  );
  return row === undefined ? null : bindingOf(row);
}

/** Binds an ID to an owner, which may make it a conflict, and returns the binding. */
export function bindOwner(context: OperationContext, bound: BoundId, owner: Owner): Binding {
  const earlier = readBinding(context, bound);
  // With an expired binding its response goes too.
  if (earlier === null) removeBinding(context, bound);
  if (earlier === null) return writeBinding(context, bound, { kind: "bound", owner });
  const next = mergeBinding(earlier, owner);
  return next === null ? earlier : writeBinding(context, bound, next);
}

function writeBinding(
  { database, now, retention }: OperationContext,
  { type, id }: BoundId,
  binding: Binding,
): Binding {
  const bounds = bindingBounds(retention);
  const bytes = jsonBytes(id) + jsonBytes(binding);
  const fits = bytes <= bounds.bytes;
  // A response without an owner is visible to no client, so it is removed.
  if (type === "response" && (!fits || binding.kind === "conflict")) {
    database.change("delete from response where id = ?", id);
  }
  if (!fits) return binding;
  database.change(
    `insert into binding (type, id, seq, body, bytes, changed) values (?, ?, ?, ?, ?, ?)
     on conflict do update set
       seq = excluded.seq, body = excluded.body, bytes = excluded.bytes, changed = excluded.changed`,
    type,
    id,
    readNumber(database, "select coalesce(max(seq), 0) + 1 from binding where type = ?", type),
    JSON.stringify(binding),
    bytes,
    now,
  );
  removeOldest(
    database,
    `${type}_bindings`,
    bounds,
    `delete from binding
     where type = ?1 and seq = (select min(seq) from binding where type = ?1)`,
    type,
  );
  return binding;
}

function removeBinding({ database }: OperationContext, { type, id }: BoundId): boolean {
  return database.change("delete from binding where type = ? and id = ?", type, id) > 0;
}

/** Returns the binding in a row. */
export function bindingOf(row: Row): Binding {
  const binding: Binding = JSON.parse(textOf(row, "body"));
  return binding;
}
