/** Paths of libc on the Linux systems that Deno supports. */
const LIBRARIES = [
  "/lib/x86_64-linux-gnu/libc.so.6",
  "/lib/aarch64-linux-gnu/libc.so.6",
  "/lib64/libc.so.6",
  "/usr/lib/libc.so.6",
];

/** Returns the path of the C library; undefined if it is not found. */
export function libcPath(): string | undefined {
  return LIBRARIES.find(exists);
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
