/**
 * Tells the parts of one call that its client has gone. An `AbortSignal` would do the same at many
 * times the price; each upstream attempt has one of its own, which this fires.
 */
export class Departure {
  #gone = false;
  readonly #tasks = new Set<() => void>();

  /** True once the client has gone. */
  get gone(): boolean {
    return this.#gone;
  }

  /** The client has gone: every task runs once, now. */
  leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    for (const task of this.#tasks) task();
    this.#tasks.clear();
  }

  /** Runs the task when the client goes, at once when it has gone; the result takes it back. */
  onLeave(task: () => void): () => void {
    if (this.#gone) {
      task();
      return () => {};
    }
    this.#tasks.add(task);
    return () => void this.#tasks.delete(task);
  }
}
