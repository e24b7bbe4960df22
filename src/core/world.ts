/** The outside, as far as the core may touch it. Tests pass a scripted one. */
export interface World {
  /** Milliseconds, never goes back. */
  now(): number;
  /** Seconds since 1970, for `created` and the like. */
  unix(): number;
  /** Milliseconds since 1970, for what is put in order by its time. */
  wall(): number;
  /** Uniform in [0, 1). */
  random(): number;
  uuid(): string;
  /** Runs the task once, at least `ms` later; the result cancels. Every wait and deadline is built on it. */
  after(ms: number, task: () => void): () => void;
  fetch(url: string, init: RequestInit): Promise<Response>;
}
