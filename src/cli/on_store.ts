import type { Result } from "../core/failure/result.ts";
import type { Config } from "../config/schema.ts";
import type { Stored } from "../store/object_store.ts";
import type { openStateStore } from "../store/open_store.ts";
import type { StateStore } from "../store/state_store.ts";
import { newRealWorld } from "./real_world.ts";

/** Result of an operation of a command on the state store of a configuration. */
export type StoreOutcome<T> =
  | { readonly kind: "done"; readonly value: T }
  /** The database file does not exist; it is not created. */
  | { readonly kind: "absent" }
  /** The store cannot be opened; `problem` is one sentence. */
  | { readonly kind: "refused"; readonly problem: string }
  /** The store does not answer; `problem` is its last error line, null for none. */
  | { readonly kind: "silent"; readonly problem: string | null };

/** Opens a store, runs one operation on it and closes it. */
export async function onStore<T>(
  open: typeof openStateStore,
  settings: Config["state"],
  operation: (store: StateStore) => Stored<T>,
): Promise<StoreOutcome<T>> {
  // Opening a database creates its file, which would surprise a reader.
  if (settings.store === "sqlite" && !await fileExists(settings.sqlite.path)) {
    return { kind: "absent" };
  }
  const world = newRealWorld();
  let problem: string | null = null;
  const log = { info() {}, warn() {}, error: (message: string) => void (problem = message) };
  const opened = await open(settings, { world, log });
  const result: Result<T> | null = opened?.ok === true ? await operation(opened.store) : null;
  if (opened?.ok === true) await opened.store.close();
  world.close();
  if (opened?.ok === false) return { kind: "refused", problem: opened.problem };
  return result?.ok === true ? { kind: "done", value: result.value } : { kind: "silent", problem };
}

/** True unless there is no file at the path. */
async function fileExists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound);
  }
}
