import { importClaudeCodeRouter } from "../../src/import/claude_code_router.ts";
import type { Importer, ImportResult } from "../../src/import/imported.ts";
import { importLitellm } from "../../src/import/litellm.ts";
import { reportText } from "../../src/import/report.ts";

/** A file of another gateway with what becomes of it. */
export interface Golden {
  /** Name of its file in `tests/golden/import/`. */
  readonly name: string;
  readonly source: string;
  /** The configuration file and the report; the problem of a source that cannot be read. */
  readonly result: string;
}

const FOLDER = new URL("../golden/import/", import.meta.url);

/** Lines between the parts of a file. */
const RESULT = "=== becomes\n", REPORT = "=== with the report\n";

/** The variables that are set during the import. */
export const ENVIRONMENT = { MAIN_MODEL: "groq/llama-3.3-70b-versatile", MAIN_NAME: "main" };

/** Every file of another gateway, by name. */
export const goldens: readonly Golden[] = [...Deno.readDirSync(FOLDER)]
  .map(({ name }) => name).toSorted().map((name) => {
    const [source = "", ...rest] = Deno.readTextFileSync(new URL(name, FOLDER)).split(RESULT);
    return { name, source, result: rest.join(RESULT) };
  });

/** Returns the importer of a file by its name. */
export function importerOf({ name }: Golden): Importer {
  return name.startsWith("ccr_") ? importClaudeCodeRouter : importLitellm;
}

/** Returns a result as the file has it. */
export function resultText(result: ImportResult): string {
  if (!result.ok) return `${result.problem}\n`;
  const { file, lines } = result.imported;
  return `${file ?? "nothing\n"}${REPORT}${reportText(lines)}`;
}

/** Writes the results of all files again. */
export function writeAll(): void {
  for (const golden of goldens) {
    const result = resultText(importerOf(golden)(golden.source, ENVIRONMENT));
    Deno.writeTextFileSync(new URL(golden.name, FOLDER), `${golden.source}${RESULT}${result}`);
  }
}

// ./scripts/deno run -A tests/import/golden.ts
if (import.meta.main) writeAll();
