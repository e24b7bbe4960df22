import type { Failure } from "./failure.ts";
import { fault } from "./result.ts";

/**
 * Tells the parts of one call that it ends before its time: its client has gone, or the gateway is
 * about to. An `AbortSignal` would do the same at many times the price; each upstream attempt has one
 * of its own, which this fires.
 */
export class Departure {
  #gone = false;
  #reason: Failure | null = null;
  readonly #tasks = new Set<(reason: Failure) => void>();

  /** True once the client has gone. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Why the call ends before its time, the first reason of several; null while it may go on. */
  get reason(): Failure | null {
    return this.#reason;
  }

  /** The client has gone: every task runs once, now. */
  leave(): void {
    this.#gone = true;
    if (this.#reason === null) this.#end(fault("client_cancelled", "The client has gone.").failure);
  }

  /** The call shall end with this failure, which its client is still to be told. */
  cut(reason: Failure): void {
    if (this.#reason === null) this.#end(reason);
  }

  /** Runs the task when the call ends before its time, at once when it has; the result takes it back. */
  onEnd(task: (reason: Failure) => void): () => void {
    if (this.#reason !== null) {
      task(this.#reason);
      return () => {};
    }
    this.#tasks.add(task);
    return () => void this.#tasks.delete(task);
  }

  #end(reason: Failure): void {
    this.#reason = reason;
    for (const task of this.#tasks) task(reason);
    this.#tasks.clear();
  }
}
