import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Variables } from "./expand.ts";

/** The text of a file, or the reason why it cannot be read. */
export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly isMissing: boolean; readonly trouble: string };

/** Reads a text file. On failure `trouble` completes a sentence about it: "cannot be read". */
export async function readText(path: string): Promise<FileText> {
  try {
    return { ok: true, text: await Deno.readTextFile(path) };
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

/** The text of a small file, or the reason, a sentence about the file. */
type SmallFile =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

const MIB = 1024 * 1024;

/** Largest file of a credential. */
const MAX_SMALL_BYTES = 64 * 1024;

/** Reads a small regular file. On failure the reason completes a sentence about the file. */
export async function readSmallFile(
  path: string,
  maxBytes = MAX_SMALL_BYTES,
): Promise<SmallFile> {
  try {
    const { isFile, size } = await Deno.stat(path);
    // The read of another kind of file, such as a pipe, may never end.
    if (!isFile) return notRead("the file is not a regular file");
    if (size > maxBytes) return notRead(`the file has more than ${sizeText(maxBytes)}`);
    return { ok: true, text: await Deno.readTextFile(path) };
  } catch (error) {
    return notRead(
      error instanceof Deno.errors.NotFound ? "the file does not exist" : "the file cannot be read",
    );
  }
}

function notRead(reason: string): Extract<SmallFile, { readonly ok: false }> {
  return { ok: false, reason };
}

function sizeText(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / 1024} KiB`;
}
