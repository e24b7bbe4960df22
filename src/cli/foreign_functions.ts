import { libcPath } from "../sockets/libc.ts";

/** Whether this process may call the C library, and whether this system is one where it does. */
export interface ForeignFunctions {
  readonly isLinux: boolean;
  /** Null where the library is not found. */
  readonly library: string | null;
  readonly isAllowed: boolean;
}

/** Returns what holds for this process. */
export function foreignFunctions(): ForeignFunctions {
  const library = libcPath() ?? null;
  const isAllowed = library !== null &&
    Deno.permissions.querySync({ name: "ffi", path: library }).state === "granted";
  return { isLinux: Deno.build.os === "linux", library, isAllowed };
}

/** Returns the sentence that says what the gateway does without; null where it has everything. */
export function missingFunctions(
  { isLinux, library, isAllowed }: ForeignFunctions,
): string | null {
  if (isLinux && isAllowed) return null;
  const reason = !isLinux
    ? "this is not Linux"
    : library === null
    ? "the C library was not found"
    : "this build has no right to call the C library";
  return `${reason}: small records of a stream may wait 40 ms for the client, idle client ` +
    "connections and unfinished requests stay open, a WebSocket message in fragments may have any " +
    "size, connections to providers have no TCP keep-alive, and one that is given up during a write " +
    "or a TLS handshake stays open until its provider reads on or leaves";
}
