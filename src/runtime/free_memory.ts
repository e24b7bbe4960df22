import { libcPath } from "./sockets.ts";

const SYMBOLS = { malloc_trim: { parameters: ["usize"], result: "i32" } } as const;

/**
 * Gives the memory that the C library of Linux holds unused back to the system: the runtime needs
 * more for the start than later. Returns false where the library has no function for it (musl), on
 * another system, and without the permission for foreign functions.
 */
export function releaseFreeMemory(): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    const path = libcPath();
    if (path === undefined) return false;
    const libc = Deno.dlopen(path, SYMBOLS);
    libc.symbols.malloc_trim(0n);
    libc.close();
    return true;
  } catch {
    return false;
  }
}
