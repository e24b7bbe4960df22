import type { Failure } from "./failure/failure.ts";
import { clientGone } from "./failure/result.ts";

type Task = (reason: Failure | null) => void;

/**
 * Cancellation of a call, of one upstream attempt, or of a request to another server. The
 * `AbortSignal` is made on the first call of `signal`, for runtime APIs that demand one. Measured:
 * one for each request would cost a tenth of a small request.
 */
export class Cancellation {
  #isCancelled = false;
  #isClientGone = false;
  #reason: Failure | null = null;
  #controller: AbortController | null = null;
  // Mostly one or two tasks: a list costs less than a set.
  readonly #tasks: Task[] = [];

  /** True after `cancel` or `clientDisconnected`. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** True once the client has disconnected. */
  get isClientGone(): boolean {
    return this.#isClientGone;
  }

  /**
   * The failure with which the cancelled call ends; null before cancellation, or if no failure is
   * reported.
   */
  get reason(): Failure | null {
    return this.#reason;
  }

  /** Cancels because the client disconnected. An earlier cancellation keeps its reason. */
  clientDisconnected(): void {
    this.#isClientGone = true;
    if (!this.#isCancelled) this.cancel(clientGone().failure);
  }

  /**
   * Cancels and runs every task. Only the first reason counts; a null reason reports no failure.
   */
  cancel(reason: Failure | null): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#reason = reason;
    this.#controller?.abort();
    for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) {
      task(reason);
    }
  }

  /**
   * Calls `task` once on cancellation, before it returns if already cancelled. Returns a function
   * that unsubscribes the task.
   */
  onCancel(task: Task): () => void {
    if (this.#isCancelled) {
      task(this.#reason);
      return () => {};
    }
    this.#tasks.push(task);
    return () => this.#unsubscribe(task);
  }

  /** Returns an `AbortSignal` for runtime APIs that accept no other cancellation. */
  signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#isCancelled) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  #unsubscribe(task: Task): void {
    const at = this.#tasks.indexOf(task);
    if (at >= 0) this.#tasks.splice(at, 1);
  }
}
