import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Variables } from "./expand.ts";

/** The text of a file, or the reason why it cannot be read. */
export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly isMissing: boolean; readonly trouble: string };

/**
 * Reads a text file, without the byte order mark that editors of Windows write. On failure
 * `trouble` completes a sentence about it: "cannot be read".
 */
export async function readText(path: string): Promise<FileText> {
  try {
    return { ok: true, text: (await Deno.readTextFile(path)).replace(/^\ufeff/, "") };
  } catch (error) {
    const isMissing = error instanceof Deno.errors.NotFound;
    return { ok: false, isMissing, trouble: isMissing ? "does not exist" : "cannot be read" };
  }
}

/**
 * Returns the environment variables, completed from the `.env` files of these directories; earlier
 * files win. A `.env` file that exists but cannot be read is a warning.
 */
export async function fillVariables(
  environment: Variables,
  directories: readonly string[],
): Promise<{ readonly variables: Variables; readonly warnings: readonly string[] }> {
  let variables = environment;
  const warnings: string[] = [];
  for (const path of new Set(directories.map((directory) => resolve(directory, ".env")))) {
    const file = await readText(path);
    if (file.ok) variables = { ...parseEnv(file.text), ...variables };
    else if (!file.isMissing) warnings.push(`${path} ${file.trouble}, so it sets no variables`);
  }
  return { variables, warnings };
}

/**
 * Reads a text file as `readText`, if it is a regular one of at most this size. The read of another
 * kind of file, such as a pipe, may never end.
 */
export async function readRegularFile(path: string, maxBytes = Infinity): Promise<FileText> {
  const failed = (trouble: string) => ({ ok: false, isMissing: false, trouble }) as const;
  try {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile) return failed("is not a regular file");
    if (size > maxBytes) return failed(`has more than ${sizeText(maxBytes)}`);
  } catch {
    // The read fails as well, and says why.
  }
  return await readText(path);
}

const MIB = 1024 * 1024;

function sizeText(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / 1024} KiB`;
}

/** The text of a small file, or the reason, a sentence about the file. */
type SmallFile =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** Largest file of a credential. */
const MAX_SMALL_BYTES = 64 * 1024;

/** Reads a small regular file. On failure the reason is a sentence about the file. */
export async function readSmallFile(
  path: string,
  maxBytes = MAX_SMALL_BYTES,
): Promise<SmallFile> {
  const read = await readRegularFile(path, maxBytes);
  return read.ok ? read : { ok: false, reason: `the file ${read.trouble}` };
}
