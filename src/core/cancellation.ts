import type { Failure } from "./failure.ts";
import { fault } from "./result.ts";

type Task = (reason: Failure | null) => void;

/**
 * Cancellation of a call, of one upstream attempt, or of a request to another server. Measured: an
 * `AbortSignal` for each request would cost a tenth of a small one, so there is only one where the
 * runtime demands it, made when it is first asked for.
 */
export class Cancellation {
  #isCancelled = false;
  #isClientGone = false;
  #reason: Failure | null = null;
  #controller: AbortController | null = null;
  // Mostly one or two tasks: a list costs less than a set.
  readonly #tasks: Task[] = [];

  /** True once it is cancelled. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** True once the client has disconnected. */
  get isClientGone(): boolean {
    return this.#isClientGone;
  }

  /** The failure that the cancelled call ends with; null while it is not cancelled, or if none is to be reported. */
  get reason(): Failure | null {
    return this.#reason;
  }

  /** Cancels because the client disconnected. A call that was cancelled before keeps its reason. */
  clientDisconnected(): void {
    this.#isClientGone = true;
    if (!this.#isCancelled) this.cancel(fault("client_cancelled", "The client has gone.").failure);
  }

  /** Cancels and runs every task. Only the first reason counts; null if no failure is to be reported. */
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

  /** Returns the signal for an API of the runtime that takes no other. */
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
