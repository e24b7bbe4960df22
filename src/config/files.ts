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
