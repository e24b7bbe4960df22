import { type Result, success } from "../../core/result.ts";
import { type Binding, mergeBinding, type Owner } from "../bindings.ts";
import type { Stored } from "../object_store.ts";
import { jsonBytes } from "../retention.ts";
import { storeUnavailable } from "../store_failure.ts";
import { bindingText, parseBinding } from "../objects/binding_text.ts";

/** Result of a change that is only made if a binding is the expected one. */
export type Attempt<T> =
  | { readonly kind: "made"; readonly value: T }
  | { readonly kind: "changed"; readonly binding: Binding | null };

/**
 * Attempts of one operation: replicas may change the binding that it expects. A binding changes three
 * times at most before it expires or is removed.
 */
const MAX_ATTEMPTS = 10;

/**
 * Attempts a change until the binding of its ID is the expected one, at first none. The value of the
 * attempt that is made is the result.
 */
export async function changeBinding<T>(
  attempt: (expected: Binding | null) => Stored<Attempt<T>>,
): Stored<T> {
  let expected: Binding | null = null;
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const result: Result<Attempt<T>> = await attempt(expected);
    if (!result.ok) return result;
    if (result.value.kind === "made") return success(result.value.value);
    expected = result.value.binding;
  }
  return storeUnavailable();
}

/** Returns the attempt that is made without a change. */
export function made<T>(value: T): Result<Attempt<T>> {
  return success({ kind: "made", value });
}

/** Returns the attempt that has found the binding with this text. */
export function changedTo(text: string | null): Result<Attempt<never>> {
  const binding = readBinding(text);
  return binding.ok ? success({ kind: "changed", binding: binding.value }) : binding;
}

/** Returns the binding after an account has returned the ID to a caller; `earlier` if it is the same. */
export function bindingAfter(earlier: Binding | null, owner: Owner): Binding {
  return earlier === null ? { kind: "bound", owner } : mergeBinding(earlier, owner) ?? earlier;
}

/** Returns the binding in a reply; null if the text is empty or absent. */
export function readBinding(text: string | null): Result<Binding | null> {
  return text === null || text === "" ? success(null) : parseBinding(text);
}

/** Returns the text that scripts expect a binding to have; empty for none. */
export function expectedText(binding: Binding | null): string {
  return binding === null ? "" : bindingText(binding);
}

/** Returns the bytes that count for a binding. */
export function bytesOfBinding(id: string, binding: Binding): number {
  return jsonBytes(id) + jsonBytes(binding);
}
