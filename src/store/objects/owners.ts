import { type Result, success } from "../../core/failure/result.ts";
import { type Binding, creatorOf, mayUse, mergeBinding, type Owner } from "../bindings.ts";
import { keyText } from "../key_text.ts";
import type { OwnerStore, Stored } from "../object_store.ts";
import { headBytes, maxHeadBytes } from "../records/bounds.ts";
import type { NextRecord, RecordType, StoredRecord } from "../records/record_store.ts";
import { bindingText, parseBinding } from "./binding_text.ts";
import type { RecordRules } from "./record_rules.ts";

/**
 * Returns the owners in the heads of the records of one type. With `renewMs`, an owner lasts so
 * long after the last lookup of its ID alone.
 */
export function newOwners<Body>(
  rules: RecordRules<Body>,
  type: RecordType,
  renewMs: number | null = null,
): OwnerStore {
  const { records, changer, bounds } = rules;
  const ttlMs = renewMs ?? rules.ttlMs;

  async function findBindings(ids: readonly string[]): Stored<ReadonlyMap<string, Binding>> {
    if (ids.length === 0) return success(new Map());
    const lookups = ids.map((id) => ({ type, id: keyText(id) }));
    const found = await records.get(lookups, { content: "head" });
    if (!found.ok) return found;
    const bindings = new Map<string, Binding>();
    for (const [at, id] of ids.entries()) {
      const binding = bindingIn(found.value[at] ?? null);
      if (!binding.ok) return binding;
      if (binding.value !== null) bindings.set(id, binding.value);
    }
    return success(bindings);
  }

  return {
    findBindings,
    async findBinding(id) {
      const options = { content: "head", ...renewMs !== null && { renewMs } } as const;
      const found = await records.get([{ type, id: keyText(id) }], options);
      return found.ok ? bindingIn(found.value[0] ?? null) : found;
    },
    bind: (id, owner) =>
      changer.add({ type, id: keyText(id) }, (found) => {
        const earlier = bindingIn(found);
        if (!earlier.ok) return earlier;
        const value = bindingAfter(earlier.value, owner);
        const next = boundRecord(value, false, ttlMs);
        const isKept = value === earlier.value ||
          headBytes(keyText(id), next.head) > maxHeadBytes(bounds[type]);
        return success({ value, ...!isKept && { next: () => Promise.resolve(next) } });
      }),
    unbind: (id, account, caller) =>
      changer.change({ type, id: keyText(id) }, { content: "head" }, (found) => {
        const binding = bindingIn(found);
        if (!binding.ok) return binding;
        const isOwn = binding.value?.kind === "bound" &&
          binding.value.owner.account === account && mayUse(binding.value, caller);
        if (!isOwn) return success({ value: false });
        return success({ value: true, next: () => Promise.resolve(null) });
      }),
  };
}

/** Returns the binding in the head of a record. */
export function bindingIn<Body>(found: StoredRecord<Body> | null): Result<Binding | null> {
  return found === null ? success(null) : parseBinding(found.head);
}

/**
 * Returns the binding after an account has returned the ID to a caller; `earlier` if it is the
 * same.
 */
export function bindingAfter(earlier: Binding | null, owner: Owner): Binding {
  return earlier === null ? { kind: "bound", owner } : mergeBinding(earlier, owner) ?? earlier;
}

/**
 * Returns the record of a binding, whose lifetime begins with its last change. A conflict has no
 * content, because it could be that of either account.
 */
export function boundRecord(binding: Binding, isSame: boolean, ttlMs: number): NextRecord<never> {
  return {
    head: bindingText(binding),
    share: shareOf(creatorOf(binding)),
    lifeMs: isSame ? null : ttlMs,
    ...binding.kind === "conflict" && { body: null, parts: [] },
  };
}

/** Returns the share for which the records of a creator count. */
export function shareOf(creator: string | null): string {
  return JSON.stringify(creator);
}
