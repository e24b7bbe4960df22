/**
 * By default V8 collects the whole heap for each 64 MB of new buffers, also where most of them are
 * garbage already. With this flag buffers count like objects, whose young ones are collected alone.
 */
const BUFFER_FLAG = "--external-memory-accounted-in-global-limit";

/**
 * By default V8 collects the whole heap again when it is up to four times what the last collection
 * has left in use, so that it may hold three times as much garbage. With this flag it does so at
 * twice that.
 */
const GROWTH_FLAG = "--heap-growing-percent=100";

/**
 * By default V8 looks 8 s after a collection whether a process has little to do, and then collects
 * the heap so that it becomes small. That stops calls for up to 60 ms, and loses compiled code: the
 * next calls cost half as much again, thousands of them. With this flag it looks after 10 minutes.
 */
const IDLE_FLAG = "--memory-reducer-delay-ms=600000";

/**
 * Returns the flags of V8 that an executable carries, and that soak, attacks, bench and tests give
 * what they run from its sources. Deno 2.9 refuses the first one: it has none there.
 */
export function v8Flags(version: string): readonly string[] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const flags = [GROWTH_FLAG, IDLE_FLAG];
  return major === 2 && minor < 9 ? [BUFFER_FLAG, ...flags] : flags;
}

/** Returns the option of Deno for {@link v8Flags} and others. */
export function v8Options(version: string, others: readonly string[] = []): string[] {
  return [`--v8-flags=${[...v8Flags(version), ...others].join(",")}`];
}
