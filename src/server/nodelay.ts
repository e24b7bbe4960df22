import { libcPath } from "../core/libc.ts";

const SOL_TCP = 6, TCP_NODELAY = 1;

/**
 * Turns Nagle's algorithm off for every listening socket of this process; accepted connections
 * inherit it. Without it small records of a stream wait up to 40 ms for the client's acknowledgement.
 * Best effort, on Linux: gives back the sentence that says why it could not, else null.
 */
export function setNoDelay(): string | null {
  if (Deno.build.os !== "linux") return "TCP_NODELAY is only set on Linux.";
  try {
    const path = libcPath();
    if (path === undefined) return "TCP_NODELAY is not set: libc was not found.";
    const libc = Deno.dlopen(path, {
      setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
    });
    const on = new Uint8Array(new Int32Array([1]).buffer);
    // Other descriptors than sockets answer -1, which is no harm.
    for (const { name } of Deno.readDirSync("/proc/self/fd")) {
      libc.symbols.setsockopt(Number(name), SOL_TCP, TCP_NODELAY, on, on.length);
    }
    libc.close();
    return null;
  } catch (error) {
    return `TCP_NODELAY is not set: ${error instanceof Error ? error.name : "unknown"}.`;
  }
}
