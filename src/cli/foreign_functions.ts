import { libcPath } from "../runtime/sockets.ts";

/** Availability of calls to the C library (FFI) in this process. */
export interface ForeignFunctions {
  readonly isLinux: boolean;
  /** Path of the C library; null if it is not found. */
  readonly library: string | null;
  readonly isAllowed: boolean;
}

/** Returns the availability of FFI in this process. */
export function foreignFunctions(): ForeignFunctions {
  const library = libcPath() ?? null;
  const isAllowed = library !== null &&
    Deno.permissions.querySync({ name: "ffi", path: library }).state === "granted";
  return { isLinux: Deno.build.os === "linux", library, isAllowed };
}

/** Returns a sentence about the features that are missing without FFI; null if none is. */
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
