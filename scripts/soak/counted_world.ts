import { getHeapSpaceStatistics } from "node:v8";
import type { World } from "../../src/core/world.ts";
import { newRealWorld as newOriginalWorld } from "../../src/cli/real_world.ts";

// The gateway of the soak is the program itself with this module in place of
// src/cli/real_world.ts, by an import map. It counts timers and answers SIGUSR2 with one line on
// stderr.

/** Start of the line with the figures of the process. */
const PROBE_MARK = "soak-probe ";

/** A number, and from Deno 2.9 on by its types an object. */
type TimerId = ReturnType<typeof globalThis.setTimeout>;

const live = new Set<TimerId>();
const tasks = new Set<symbol>();

const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;

Object.assign(globalThis, {
  setTimeout(task: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) {
    const id = setTimeout(() => {
      live.delete(id);
      task(...args);
    }, ms);
    live.add(id);
    return id;
  },
  setInterval(task: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) {
    const id = setInterval(task, ms, ...args);
    live.add(id);
    return id;
  },
  clearTimeout(id?: TimerId) {
    if (id !== undefined) live.delete(id);
    clearTimeout(id);
  },
  clearInterval(id?: TimerId) {
    if (id !== undefined) live.delete(id);
    clearInterval(id);
  },
});

/** Returns the real world of the gateway, which counts the tasks that wait for their time. */
export function newRealWorld(): World & { close(): void } {
  const world = newOriginalWorld();
  return {
    ...world,
    after(ms, task) {
      const key = Symbol();
      tasks.add(key);
      const cancel = world.after(ms, () => {
        tasks.delete(key);
        task();
      });
      return () => {
        tasks.delete(key);
        cancel();
      };
    },
  };
}

/** The spaces of the heap that hold machine code, bytecode and what belongs to them. */
const CODE_SPACE = /^(?:shared_)?(?:code|trusted)_/;

/**
 * Returns the bytes of compiled code, which the engine continues making from more functions for
 * hours.
 */
function codeBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => CODE_SPACE.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

Deno.addSignalListener("SIGUSR2", () => {
  // The collector runs by a flag of the soak: what remains is in use. Twice, because the buffers
  // that it has found unused are counted until the next collection begins.
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect === "function") { for (let times = 0; times < 2; times++) collect(); }
  const { heapUsed, external, rss } = Deno.memoryUsage();
  const code = codeBytes();
  const figures = {
    pid: Deno.pid,
    timers: live.size,
    tasks: tasks.size,
    live: heapUsed + external - code,
    code,
    rss,
  };
  Deno.stderr.writeSync(new TextEncoder().encode(`${PROBE_MARK}${JSON.stringify(figures)}\n`));
});
