/** Returns the path of the first program that is in the PATH; null if none is. */
export function findInPath(names: readonly string[]): string | null {
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  const paths = names.flatMap((name) => folders.map((folder) => `${folder}/${name}`));
  return paths.find(isFile) ?? null;
}

/** True if a file has this path. */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
