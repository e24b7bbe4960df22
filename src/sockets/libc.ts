/** The places of libc on the Linux systems that Deno runs on. */
const LIBRARIES = [
  "/lib/x86_64-linux-gnu/libc.so.6",
  "/lib/aarch64-linux-gnu/libc.so.6",
  "/lib64/libc.so.6",
  "/usr/lib/libc.so.6",
];

/** Where the C library is; undefined where it is not found. */
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
